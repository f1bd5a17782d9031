/**
 * Every command in README.md is run by a test: the lines of its `sh` blocks, in order, in a folder of its own that has ./examples.
 * Servers are stopped once they serve; a model server is faked. Commands that train get flags that make them small, and are pinned to the folder that the line as it stands
 * would have used, so that later lines must name that folder.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
import { type FakeServer, fakeServer } from './engine/openai-server.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
};

const SMALL = [
  ...['--rounds', '2', '--sources', '20', '--proposer-steps', '1', '--prompts', '8', '--admitted', '8'],
  ...['--solver-steps', '1', '--questions', '4', '--responses', '2', '--workers', '1'],
];
const SMALL_BUDGET = ['--aux-budget', '1'];
const SMALL_EXAM = { world: ['--gold-per-hop', '2'], docs: ['--gold', '8'] };
const SMALL_PRETRAINING = ['--tokens', '3000', '--chunk', '1500'];

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
  if (name === 'replay') return [...args, '--updates', '2', '--questions', '4', '--responses', '2', '--probe', '4'];
  if (name === 'train') {
    // The others write their own.
    const gold = args[1] === 'search-r1' ? ['--train-questions', '8'] : [];
    const folder = `runs/train-${args[1]}-quick-seed${flagOf(args, '--seed') ?? 1}`;
    return [...args, ...SMALL, ...SMALL_EXAM.world, ...gold, '--run', folder];
  }
  // Ports are whatever is free.
  if (name!.startsWith('serve-'))
    return [...args, '--port', '0', ...(name === 'serve-engine' ? ['--workers', '1'] : [])];
  if (!isLoop(name!) || args.includes('--print-config')) return [...args];
  const command = addSettings(new Command(name), name)
    .exitOverride()
    .allowUnknownOption()
    .allowExcessArguments()
    .parse(args.slice(1), { from: 'user' });
  const { dir, config } = await settingsOf(command, name);
  const folder = args.includes('--seeds') ? dir.replace(/seed\d+/, 'seeds') : dir;
  return [...args, ...SMALL, ...SMALL_BUDGET, ...SMALL_EXAM[config.task.kind], '--run', folder];
}

/** What must come of a command besides exit code 0. */
const OUTCOMES: Readonly<Record<string, (args: readonly string[], out: string) => void | Promise<void>>> = {
  compare: (args, out) => {
    expect(out).toContain('T_P');
    if (args.includes('--seeds')) expect(out).toMatch(/crossfit .* ± /);
    expect(out).toContain(`Report: ${join(flagOf(args, '--run')!, 'report.html')}`);
    expect(existsSync(join(flagOf(args, '--run')!, 'report.html'))).toBe(true);
  },
  evolve: (args, out) => {
    if (args.includes('--print-config')) expect(parse(out)).toMatchObject({ systems: ['crossfit'] });
    else OUTCOMES.compare!(args, out);
  },
  show: (args, out) => expect(out).toMatch(args.includes('--rollouts') ? /^(#1 |No rollout matches\.)/ : /T_P/),
  audit: (args, out) => {
    if (args.includes('--json')) expect(JSON.parse(out)).toMatchObject({ done: true });
    else expect(out).toContain('suspected co-cheating');
  },
  ask: ([, question], out) => {
    const [left, right] = question!.split('____');
    expect(out.replace(/\s+/g, ' ')).toContain(`${left}1911${right}`);
    expect(out).toContain('Answer    ');
  },
  world: ([, dir]) => expect(existsSync(join(dir!, 'world.json'))).toBe(true),
  index: (args, out) => {
    expect(out).toMatch(/passages +10\n/);
    expect(existsSync(join(flagOf(args, '--out')!, 'manifest.json'))).toBe(true);
  },
  search: (_, out) => expect(out).toMatch(/^1 .*catalogue/),
  'serve-search': (_, out) => expect(out).toMatch(/\/retrieve searches 10 passages of handbook\.idx/),
  'serve-engine': (_, out) => expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+ serves mini over the Tinker wire/),
  score: (_, out) => expect(out).toMatch(/predictions +8 +\.375 .* \.625/),
  evaluate: (args, out) => {
    const asked = args.includes('--engine');
    expect(out).toMatch(asked ? /questions +10 +\.100/ : /questions +10 +1\.000/);
    expect(existsSync(join(flagOf(args, '--out')!, 'results.jsonl'))).toBe(true);
  },
  'compare-evals': (_, out) => expect(out).toMatch(/questions +\.100 +\.100 +\.000/),
  // 16 questions of the tiny run, each in three wordings.
  bank: (args) => expect(readFileSync(flagOf(args, '--out')!, 'utf8').trim().split('\n').length).toBe(48),
  train: ([, recipe], out) => {
    expect(out).toContain(recipe!);
    expect(out).toMatch(/EM/);
  },
  replay: (_, out) => expect(out).toMatch(/coupled .*±[\s\S]*crossfit .*±/),
  doctor: (args, out) =>
    expect(out).toContain(args.includes('--engine') ? 'The engine does what it should' : 'All is well'),
  report: (_, out) => {
    expect(out).toMatch(/Exam after the last round[\s\S]*search-r1 +1 /);
    expect(out).toContain('Report: runs/baselines/report.html');
  },
  pretrain: async (args, out) => {
    expect(out).toBe(`Policy: ${flagOf(args, '--out')}\n`);
    expect(await policyFinding(flagOf(args, '--out')!)).toMatchObject({ state: 'good' });
    expect(existsSync(join(flagOf(args, '--out')!, 'pretrain-log.jsonl'))).toBe(true);
  },
};

/** Where the model server of the examples is. */
const servers = { models: '' };

async function crossfold(line: string, args: readonly string[]): Promise<void> {
  const run = (await smaller(args)).map((arg) => arg.replace(/(?<=^openai:).*/, servers.models));
  const { terminal, out, err } = recorded();
  const running = runProgram(run, terminal);
  if (args[0]!.startsWith('serve-')) {
    // Until it serves, or has said why it does not.
    for (let n = 0; n < 600 && !/Ctrl-C stops it/.test(out()) && err() === ''; n++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    process.emit('SIGINT');
  }
  const code = await running;
  expect(code, `${line}\n${err()}`).toBe(0);
  const outcome = OUTCOMES[args[0]!];
  if (outcome === undefined) throw new Error(`${line}: no expectation of "crossfold ${args[0]}" in this test`);
  await outcome(run, out());
}

describe('Every command in README.md is run by a test', () => {
  const home = process.cwd();
  const dir = mkdtempSync(join(tmpdir(), 'crossfold-readme-'));
  let models: FakeServer;
  beforeAll(async () => {
    cpSync(join(ROOT, 'examples'), join(dir, 'examples'), { recursive: true });
    models = await fakeServer({
      models: ['NAME'],
      say: () => '<think>It is said there.</think> <answer>1911</answer>',
    });
    servers.models = models.url;
    process.chdir(dir);
  });
  afterAll(async () => {
    await models.close();
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
