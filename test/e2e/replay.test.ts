/** Fixed-bank replay at tiny size: fits shared between arms, exclusion of sources, the half budget, resume. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openedRun } from '../../src/cli/opened.ts';
import { runProgram } from '../../src/cli/program.ts';
import { foldOf } from '../../src/method/fold.ts';
import { type BankQuestion, bankOfRun } from '../../src/recipe/replay/bank.ts';
import type { ReplayAnswer } from '../../src/recipe/replay/record.ts';
import { type ReplayReport, replayReport } from '../../src/recipe/replay/report.ts';
import type { StepRecord } from '../../src/record.ts';
import { replayTables } from '../../src/report/replay.ts';
import { openReader, type RunReader } from '../../src/store/read.ts';
import { openRun } from '../../src/store/run.ts';
import { recorded } from '../cli/terminal.ts';
import { runTiny, tinyConfig } from './tiny.ts';

const PLANS = 'coupled,crossfit,same-source,half-budget,msv+crossfit';
let root: string;
let reader: RunReader;
let report: ReplayReport;
const flags = (bank: string, run: string): string[] => [
  ...['replay', '--bank', join(root, bank), '--run', join(root, run), '--json'],
  ...['--plans', PLANS, '--seeds', '2', '--updates', '2', '--probe', '4', '--responses', '2', '--questions', '4'],
];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-replay-'));
  await runTiny(join(root, 'run'), { systems: ['dr-zero'] });
  const { terminal, out, err } = recorded();
  expect(await runProgram(flags('run', 'replay'), terminal), err()).toBe(0);
  report = JSON.parse(out());
  reader = await openReader(join(root, 'replay'));
}, 180_000);
afterAll(() => rm(root, { recursive: true, force: true }));

const one = async <T>(key: string): Promise<T> => (await reader.get(key)) as T;

describe('fixed-bank replay', () => {
  it('fits each distinct grader once: same-source and crossfit share a pair, half the budget is a prefix of it', () => {
    const fits = new Set(reader.keys('seed1/fit').map((key) => key.split('/').slice(2, 4).join('/')));
    expect([...fits].sort()).toEqual([
      'draft/main',
      'draft/source-own-0',
      'draft/source-own-1',
      'msv/source-own-0',
      'msv/source-own-1',
    ]);
    expect(reader.keys('seed1/fit/draft/source-own-0').length).toBe(2);
    expect(reader.keys('seed1/probe/draft/source-own-0@1').length).toBe(1);
  });

  it('under crossfit asks a grader that never trained on the source; under same-source one that did', async () => {
    for (const seed of [1, 2]) {
      const policyOf = async (part: 0 | 1) =>
        (await one<StepRecord>(`seed${seed}/fit/draft/source-own-${part}/001`)).after.policy;
      const policies = [await policyOf(0), await policyOf(1)];
      const crossfit = await one<ReplayAnswer>(`seed${seed}/answer/crossfit`);
      for (const f of crossfit.feedback) expect(f.grader).toBe(policies[1 - foldOf(seed, f.source)]);
      expect(crossfit.overlap).toBe(0);
      const same = await one<ReplayAnswer>(`seed${seed}/answer/same-source`);
      for (const f of same.feedback) expect(f.grader).toBe(policies[foldOf(seed, f.source)]);
      expect(same.overlap).toBeGreaterThan(0);
    }
  });

  it('answers the whole bank in every draft arm, and reports mean, deviation and the difference to coupled', () => {
    expect(report.arms.map(({ arm }) => arm).join()).toBe(PLANS);
    const crossfit = report.arms[1]!;
    expect(crossfit.questions).toBe(report.setup.questions);
    const { mean, sd, values } = crossfit.measures.A;
    expect(mean).toBeCloseTo((values[0]! + values[1]!) / 2, 12);
    expect(sd).toBeCloseTo(Math.abs(values[0]! - values[1]!) / Math.SQRT2, 12);
    expect(crossfit.againstCoupled!.measures.F.mean).toBeCloseTo(
      crossfit.measures.F.mean - report.arms[0]!.measures.F.mean,
      12,
    );
    expect(report.arms[0]!.againstCoupled).toBeNull();
    for (const { measures: m } of report.arms) expect(m.A.mean - m.TS.mean).toBeCloseTo(m.F.mean - m.L.mean, 12);
    expect(report.done).toBe(true);
  });

  it('gives the same for the bank as a file, with references of its own and the responses it brought', async () => {
    const { terminal, out } = recorded();
    await runProgram(['bank', join(root, 'run')], terminal);
    const lines: BankQuestion[] = out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const bank = lines.map((row, i) => ({
      ...row,
      reference: i % 2 ? row.label : 'nobody',
      responses: [row.label, null],
    }));
    await writeFile(join(root, 'bank.jsonl'), bank.map((row) => JSON.stringify(row)).join('\n'));
    const own = recorded();
    const args = flags('bank.jsonl', 'replay-file')
      .map((a) => (a === PLANS ? 'coupled' : a))
      .concat(['--policy', 'mini']);
    const world = ['--world-seed', '5', '--gold-per-hop', '3'];
    expect(await runProgram([...args, ...world], own.terminal), own.err()).toBe(0);
    const found: ReplayReport = JSON.parse(own.out());
    expect(found.auditor).toBe('gold');
    // Half the labels are right by their reference, and half the responses are the label.
    const right = bank.filter((_, i) => i % 2).length / bank.length;
    expect(found.logged!.shares).toMatchObject({ TP: right, A: 0.5, TS: right / 2, F: (1 - right) / 2 });
    expect(await readFile(join(root, 'replay-file', 'report.md'), 'utf8')).toContain('| coupled |');
  }, 60_000);

  it('says how often the bank asks a fact, and whose grader trains on it', async () => {
    const seen = Object.fromEntries(report.arms.map(({ arm, sameFact }) => [arm, sameFact]));
    expect(seen).toMatchObject({ coupled: 1, crossfit: 0, 'same-source': 1, 'half-budget': 0, 'msv+crossfit': 0 });
    const bank = recorded();
    const args = ['bank', join(root, 'run'), '--limit', '4', '--wordings', '2', '--out', join(root, 'reworded.jsonl')];
    expect(await runProgram(args, bank.terminal), bank.err()).toBe(0);
    expect(bank.err()).toMatch(/^8 questions in .*: 4 of the run, in up to 2 wordings each\n$/);
    const rows: BankQuestion[] = (await readFile(join(root, 'reworded.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.map(({ id }) => id.slice(-3))).toEqual(['/w0', '/w1', '/w0', '/w1', '/w0', '/w1', '/w0', '/w1']);
    const limited = recorded();
    expect(await runProgram(['bank', join(root, 'run'), '--limit', '4'], limited.terminal)).toBe(0);
    const asked = limited
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).question);
    expect(rows.filter(({ id }) => id.endsWith('/w0')).map(({ question }) => question)).toEqual(asked);
    const own = recorded();
    const replay = ['replay', '--bank', join(root, 'reworded.jsonl'), '--run', join(root, 'replay-reworded')];
    const small = ['--plans', 'coupled', '--seeds', '1', '--updates', '1', '--probe', '4', '--responses', '2'];
    const world = ['--questions', '4', '--policy', 'mini', '--world-seed', '5', '--gold-per-hop', '3'];
    expect(await runProgram([...replay, ...small, ...world], own.terminal), own.err()).toBe(0);
    expect(own.out()).toMatch(/asked again\n +8 .* 1\.000\n/);
    expect(own.out()).toMatch(/\ncoupled .* 1\.000\n/);
  }, 60_000);

  it('rewords no questions about documents', async () => {
    const config = tinyConfig({ task: { kind: 'docs', path: './handbook', gold: 8 }, policy: 'reader' });
    const dir = join(root, 'docs');
    await (await openRun(dir, { recipe: 'evolve', config, seed: 1, codeVersion: 'test', parents: [] })).close();
    const { terminal, err } = recorded();
    expect(await runProgram(['bank', dir, '--wordings', '2'], terminal)).toBe(2);
    expect(err()).toContain('is about the documents ./handbook; only questions of the miniature world can be reworded');
  });

  it('shows all that the folder has, whatever is asked of it now; --quiet says nothing but the tables', async () => {
    const asked = (...more: readonly string[]) => [
      ...flags('run', 'replay').flatMap((arg) => (arg === '--json' ? [] : arg === PLANS ? ['coupled'] : [arg])),
      ...['--seeds', '1', ...more],
    ];
    const less = recorded();
    expect(await runProgram(asked(), less.terminal), less.err()).toBe(0);
    expect(less.err()).toContain(`${join(root, 'replay')} is finished; its report is made again\n`);
    expect(less.err()).toContain(
      'also has seed 2 and crossfit, same-source, half-budget, msv+crossfit, which the report',
    );
    expect(less.out()).toMatch(/^replay in world 5, 2 updates a grader, seeds 1, 2, audited by/);
    expect(less.out()).toMatch(/mean ± SD over 2 seeds\n[\s\S]*\nmsv\+crossfit /);
    const quiet = recorded();
    expect(await runProgram(asked('--quiet'), quiet.terminal)).toBe(0);
    expect(quiet.out()).toBe(less.out());
    expect(quiet.err()).not.toMatch(/finished|also has|round/);
    const other = recorded();
    expect(await runProgram(asked('--updates', '3'), other.terminal)).toBe(2);
    expect(other.err()).toContain('holds another run (config.updates: 2 there, 3 now); use another --run folder');
  });

  it('pairs an arm with coupled where a seed has both, and says how many seeds each has', async () => {
    const { reader: run, task } = await openedRun(join(root, 'run'));
    const events: RunReader['events'] = async function* () {
      for await (const event of reader.events()) if (event.key !== 'seed2/answer/coupled') yield event;
    };
    const found = async (arms: readonly string[]) =>
      replayReport({ ...reader, events }, task.auditor, await bankOfRun(run), [], { arms, seeds: [1, 2] });
    const part = await found(['crossfit']);
    expect([part.done, (await found(['coupled'])).done, part.seeds]).toEqual([true, false, [1, 2]]);
    const [coupled, crossfit] = part.arms;
    expect([coupled!.seeds, crossfit!.seeds, crossfit!.againstCoupled!.seeds]).toEqual([1, 2, 1]);
    const whole = report.arms[1]!.againstCoupled!.measures.F.values;
    expect(crossfit!.againstCoupled!.measures.F.values).toEqual([whole[0]]);
    const [, arms, contrasts] = replayTables(part);
    expect(arms!.caption).toBe('The arms: mean ± SD over the seeds that each has');
    expect(arms!.rows.map(([plan, seeds]) => `${plan} ${seeds}`).slice(0, 3)).toEqual([
      'base –',
      'coupled 1',
      'crossfit 2',
    ]);
    expect(contrasts!.rows[0]!.slice(0, 2)).toEqual(['crossfit', '1']);
  });

  it('says before it starts that the exam or the bank is too small', async () => {
    const small = recorded();
    const args = ['--plans', 'coupled,crossfit', '--limit', '1', '--probe', '99', '--run', join(root, 'small')];
    expect(
      await runProgram([...flags('run', 'small').filter((arg) => arg !== '--json'), ...args], small.terminal),
    ).toBe(2);
    expect(small.err()).toMatch(
      /the bank has 1 question of 1 source, too few for a grader of crossfit with seeds 1, 2: /,
    );
    expect(existsSync(join(root, 'small'))).toBe(false);
    const none = recorded();
    expect(await runProgram([...flags('run', 'small'), '--plans='], none.terminal)).toBe(2);
    expect(none.err()).toContain('--plans is ""; expected all, or some of coupled, crossfit, ');
  });

  it('goes on where it stopped, and refuses a bank about other sources', async () => {
    const again = recorded();
    expect(await runProgram(flags('run', 'replay'), again.terminal)).toBe(0);
    expect(JSON.parse(again.out())).toEqual(report);
    await writeFile(join(root, 'other.jsonl'), '{"question":"q","label":"a","source":"nowhere"}\n');
    const other = recorded();
    expect(await runProgram(flags('other.jsonl', 'replay-other'), other.terminal)).toBe(2);
    expect(other.err()).toContain('1 of 1 questions are about sources that world 1 does not have');
  });
});
