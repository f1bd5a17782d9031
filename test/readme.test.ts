/**
 * Every command in README.md is run by a test: the lines of its `sh` blocks, in order, in a folder of its own with a small
 * ./handbook. Commands that train get flags that make them small, and are pinned to the folder that the line as it stands
 * would have used, so that later lines must name that folder.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { policyFinding } from '../src/cli/checks.ts';
import { runProgram } from '../src/cli/program.ts';
import { addSettings, settingsOf } from '../src/cli/settings.ts';
import { COMMANDS, type CommandName } from '../src/recipe/presets.ts';
import { recorded } from './cli/terminal.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
};

const SMALL = [
  ...['--rounds', '2', '--sources', '20', '--proposer-steps', '1', '--prompts', '8', '--admitted', '8'],
  ...['--solver-steps', '1', '--questions', '4', '--auxiliary-steps', '1', '--responses', '2', '--workers', '1'],
];
const SMALL_EXAM = { world: ['--gold-per-hop', '2'], docs: ['--gold', '8'] };
const SMALL_PRETRAINING = ['--tokens', '3000', '--chunk', '1500'];

const HANDBOOK: Readonly<Record<string, string>> = {
  'library.md': `# The library

The library was founded in 1911 by its first readers. Their chair was Agnes Holloway, a typesetter from Norbridge, who gave
240 books of her own and kept the lending list until 1934.

Since 2008 the library lends instruments as well. The first of them was a cello that Piet Vandermeer left to the town.
`,
  'opening-hours.md': `# Opening hours

The reading room opens at 9 and closes at 18 on every weekday. On the last Friday of June it stays open until 22 for the
long evening, which Clara Weiss introduced in 1997.
`,
  'branches.md': `# Branches

The branch in Eastmoor was opened on 4 May 1952 by Mayor Rupert Lindqvist. It holds about 12,500 volumes, most of them about
the sea and the fishing fleet of Eastmoor.

The branch in Tarnwick was closed in 1981, and its maps went to the university of Norbridge.
`,
  'staff.md': `# Staff

Head of the house is Miriam Okafor, who came from the archive of Tarnwick in 2015. She leads a team of 14 and answers to the
council of Norbridge.

Repairs are done by Jonas Bellweather, a bookbinder who learnt his trade with Odile Garnier in Lyon.
`,
  'catalogue.txt': `The catalogue was kept on cards until 1989, when Yusuf Demir moved it to a computer called Marigold. The move took
11 months and cost the council 38,000 crowns.

Every card is still kept in the cellar of the branch in Eastmoor, in 96 drawers of oak made by the carpenter Ewa Nowak.
`,
  'rules.md': `# Lending rules

A reader may borrow up to 8 books for 30 days. Whoever is late pays 2 crowns a week into the fund that Agnes Holloway set up
in 1920 for new shelves.

* Maps and scores are lent for 7 days, and only with the leave of Miriam Okafor or of one of her team.
`,
  'events.md': `# Events

The winter readings began in January 1964 with a talk by the poet Leonor Saavedra about the rivers of Portugal. They are held
in the Blue Hall, which has 120 seats.

The children of Eastmoor meet on Saturdays with Tobias Reed, who has told them stories since 2011.
`,
  'building.rst': `The building
============

The house in Mill Street was drawn by the architect Henrik Salo and finished in October 1926. Its reading room is lit by 18
lamps that were cast in Tarnwick.

A fire burnt the west wing in 1943, and Sofia Brandt rebuilt it after the war with stone from Hollow Hill.
`,
  'network.md': `# Network

Visitors use the network \`norbridge-guest\`, and the password is changed by Hana Kimura on the first Monday of each month. The
printers near the Blue Hall need version 4.2 of the driver.
`,
  'history.txt': `Norbridge had a reading club before it had a library. It met from 1887 in the back room of the baker Matthias Thorn, and
its 31 members shared three newspapers and an atlas from Vienna.

In 1903 the club moved to the school in Mill Street, where the teacher Bertha Quist gave it a cupboard with a lock.
`,
};

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Commands of the `sh` blocks, one a line, without comments. */
function commandsOf(markdown: string): Line[] {
  let inside = false;
  return markdown.split('\n').flatMap((raw, i) => {
    if (raw.startsWith('```')) {
      inside = raw === '```sh';
      return [];
    }
    const text = raw.replace(/(?:^|\s)#.*$/, '').trim();
    return inside && text !== '' ? [{ number: i + 1, text }] : [];
  });
}

const wordsOf = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

const isLoop = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);
const flagOf = (args: readonly string[], flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;

/** What a line is run with: small, and in the folder that it would use by itself. */
async function smaller(args: readonly string[]): Promise<string[]> {
  const [name] = args;
  if (name === 'pretrain') {
    // Without it the policy would go where the shipped ones are.
    expect(args).toContain('--out');
    return [...args, ...SMALL_PRETRAINING];
  }
  if (!isLoop(name!) || args.includes('--print-config')) return [...args];
  const command = addSettings(new Command(name), name).exitOverride().parse(args.slice(1), { from: 'user' });
  const { dir, config } = await settingsOf(command, name);
  return [...args, ...SMALL, ...SMALL_EXAM[config.task.kind], '--run', dir];
}

/** What must come of a command besides exit code 0. */
const OUTCOMES: Readonly<Record<string, (args: readonly string[], out: string) => void | Promise<void>>> = {
  compare: (args, out) => {
    expect(out).toContain('T_P');
    expect(out).toContain(`Report: ${join(flagOf(args, '--run')!, 'report.html')}`);
    expect(existsSync(join(flagOf(args, '--run')!, 'report.html'))).toBe(true);
  },
  evolve: (args, out) => {
    if (args.includes('--print-config')) expect(parse(out)).toMatchObject({ systems: ['crossfit'] });
    else OUTCOMES.compare!(args, out);
  },
  show: (args, out) => expect(out).toMatch(args.includes('--rollouts') ? /^(#1 |No rollout matches\.)/ : /T_P/),
  audit: (_, out) => expect(JSON.parse(out)).toMatchObject({ done: true }),
  ask: ([, question], out) => {
    const [left, right] = question!.split('____');
    expect(out.replace(/\s+/g, ' ')).toContain(`${left}1911${right}`);
    expect(out).toContain('Answer    ');
  },
  world: ([, dir]) => expect(existsSync(join(dir!, 'world.json'))).toBe(true),
  doctor: (_, out) => expect(out).toContain('All is well'),
  pretrain: async (args, out) => {
    expect(out).toBe(`Policy: ${flagOf(args, '--out')}\n`);
    expect(await policyFinding(flagOf(args, '--out')!)).toMatchObject({ state: 'good' });
    expect(existsSync(join(flagOf(args, '--out')!, 'pretrain-log.jsonl'))).toBe(true);
  },
};

async function crossfold(line: string, args: readonly string[]): Promise<void> {
  const run = await smaller(args);
  const { terminal, out, err } = recorded();
  const code = await runProgram(run, terminal);
  expect(code, `${line}\n${err()}`).toBe(0);
  const outcome = OUTCOMES[args[0]!];
  if (outcome === undefined) throw new Error(`${line}: no expectation of "crossfold ${args[0]}" in this test`);
  await outcome(run, out());
}

describe('Every command in README.md is run by a test', () => {
  const home = process.cwd();
  const dir = mkdtempSync(join(tmpdir(), 'crossfold-readme-'));
  beforeAll(() => {
    mkdirSync(join(dir, 'handbook'));
    for (const [name, text] of Object.entries(HANDBOOK)) writeFileSync(join(dir, 'handbook', name), text);
    process.chdir(dir);
  });
  afterAll(() => {
    process.chdir(home);
    rmSync(dir, { recursive: true, force: true });
  });

  const lines = commandsOf(README);

  it('finds them', () => {
    expect(lines.length).toBeGreaterThanOrEqual(10);
    expect(PACKAGE.bin.crossfold).toBe('dist/cli/main.js');
    expect(readFileSync(join(ROOT, 'src/cli/main.ts'), 'utf8')).toContain('runProgram(process.argv.slice(2)');
  });

  it.each(lines.map((line) => [`line ${line.number}: ${line.text}`, line] as const))(
    '%s',
    async (_, { number, text }) => {
      const where = `README.md:${number}: ${text}`;
      for (const command of text.split('&&').map((part) => part.trim())) {
        const [program, ...args] = wordsOf(command);
        if (program === 'npx' && args[0] === 'crossfold') await crossfold(where, args.slice(1));
        else if (command === 'npm ci') expect(existsSync(join(ROOT, 'package-lock.json')), where).toBe(true);
        else if (command === 'npm start') {
          // "Both systems, in runs/compare-quick-seed1": compare as it comes.
          expect(PACKAGE.scripts.start, where).toBe(`node ${PACKAGE.bin.crossfold} compare`);
          await crossfold(where, ['compare']);
          expect(existsSync('runs/compare-quick-seed1/report.html'), where).toBe(true);
        } else if (command === 'npm test') expect(PACKAGE.scripts.test, where).toBe('vitest run');
        else throw new Error(`${where}: this test does not know how to run it`);
      }
    },
  );
});
