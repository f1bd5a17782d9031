/** Every ablation by its one flag, at tiny size: what the flag changes in the journal, and what it leaves alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { RolloutRecord, StepRecord } from '../../src/record.ts';
import { parseRollouts } from '../../src/report/rollouts.ts';
import { openReader, type RunReader } from '../../src/store/read.ts';
import { recorded } from '../cli/terminal.ts';

const TINY = [
  ...['--rounds', '1', '--sources', '60', '--proposer-steps', '2', '--prompts', '8', '--admitted', '8'],
  ...['--solver-steps', '1', '--questions', '4', '--responses', '4', '--gold-per-hop', '1', '--workers', '1'],
];

let root: string;
const readers = new Map<string, RunReader>();
async function ablate(name: string, ...flags: readonly string[]): Promise<void> {
  const dir = join(root, name);
  const { terminal, err } = recorded();
  const code = await runProgram(
    ['evolve', '--system', 'dr-zero', '--quiet', ...TINY, ...flags, '--run', dir],
    terminal,
  );
  expect(code, err()).toBe(0);
  readers.set(name, await openReader(dir));
}
const step = async (name: string, key: string): Promise<StepRecord> =>
  (await readers.get(name)!.get(key)) as unknown as StepRecord;
const first = (name: string): Promise<StepRecord> => step(name, 'round1/proposer/000');
async function rolloutsOf(name: string, { rollouts }: StepRecord): Promise<RolloutRecord[]> {
  return parseRollouts(await readers.get(name)!.blobs.get(rollouts), rollouts);
}
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const answersOf = ({ feedback }: StepRecord) => feedback.map(({ question, responses }) => [question, responses]);

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-ablation-'));
  await ablate('plain');
}, 120_000);
afterAll(() => rm(root, { recursive: true, force: true }));

describe('an ablation by one flag', () => {
  it('format reward off: what is written and answered stays, the reward is the difficulty alone', async () => {
    await ablate('format', '--format-weight', '0');
    const [plain, off] = [await first('plain'), await first('format')];
    expect(answersOf(off)).toEqual(answersOf(plain));
    expect(off.reward.mean).toBeCloseTo(off.reward.parts.difficulty!, 12);
    expect(plain.reward.mean).toBeCloseTo(plain.reward.parts.difficulty! + 0.5 * plain.reward.parts.format!, 12);
  });

  it('parabolic difficulty: k of 4 matches earn 0, .75, 1, .75, 0 in place of 0, 1, .667, .333, 0', async () => {
    await ablate('parabolic', '--difficulty', 'parabolic');
    const rows = [
      ['parabolic', [0, 0.75, 1, 0.75, 0]],
      ['plain', [0, 1, 2 / 3, 1 / 3, 0]],
    ] as const;
    for (const [name, f] of rows) {
      const { feedback, reward, counts } = await first(name);
      const earned = feedback.map(({ matches }) => f[matches.filter(Boolean).length]!);
      expect(reward.parts.difficulty, name).toBeCloseTo(sum(earned) / counts.trajectories, 12);
    }
    expect(answersOf(await first('parabolic'))).toEqual(answersOf(await first('plain')));
  });

  it.each([
    ['0:0:0:1', { 4: 16 }],
    ['1:0:0:0', { 1: 16 }],
  ])('hop mix %s', async (mix, expected) => {
    const name = `hops ${mix}`;
    await ablate(name, '--hops', mix);
    const both = [await first(name), await step(name, 'round1/proposer/001')];
    const total: Record<string, number> = {};
    for (const { hops } of both) for (const [h, n] of Object.entries(hops)) total[h] = (total[h] ?? 0) + n;
    expect(total).toEqual(expected);
  });

  it('proposer estimator: one trajectory a prompt in groups by hop, four in groups by source, one in a single group', async () => {
    await ablate('grpo', '--proposer-estimator', 'grpo');
    await ablate('global', '--proposer-estimator', 'global');
    const [plain, grpo, global] = [await first('plain'), await first('grpo'), await first('global')];
    expect([plain.counts.trajectories, grpo.counts.trajectories, global.counts.trajectories]).toEqual([8, 32, 8]);
    expect([plain.counts.groups, grpo.counts.groups, global.counts.groups]).toEqual([
      Object.keys(plain.hops).length,
      8,
      1,
    ]);
    expect(answersOf(global)).toEqual(answersOf(plain));
    // Four responses to each of about four questions, against four to one.
    expect(grpo.responses / plain.responses).toBeGreaterThan(3);
  });

  it('auxiliary budget: so many updates of each', async () => {
    await ablate('budget', '--system', 'crossfit', '--rounds', '2', '--aux-budget', '3');
    const keys = [0, 1].map((h) => readers.get('budget')!.keys(`crossfit/round1/auxiliary${h}`).length);
    expect(keys).toEqual([3, 3]);
  });

  it('loss mean: the same rollouts, other weights', async () => {
    await ablate('token', '--loss-mean', 'token');
    const [plain, token] = [await first('plain'), await first('token')];
    expect(token.rollouts).toBe(plain.rollouts);
    expect(token.after.policy).not.toBe(plain.after.policy);
  });

  it('a shut gate: reward 0 in the group, or out of it', async () => {
    // Hot enough to write some that are malformed.
    await ablate('zero', '--temperature', '2');
    await ablate('drop', '--temperature', '2', '--invalid', 'drop');
    const [zero, drop] = [await first('zero'), await first('drop')];
    expect(zero.counts.formed).toBeLessThan(8);
    expect(drop.counts.formed).toBe(zero.counts.formed);
    const ofProposer = async (name: string, record: StepRecord) =>
      (await rolloutsOf(name, record)).filter(({ role }) => role === 'proposer');
    const rewards = async (name: string, record: StepRecord) => (await ofProposer(name, record)).map((r) => r.reward);
    const [zeroed, dropped] = [await rewards('zero', zero), await rewards('drop', drop)];
    expect(zeroed.filter((reward) => reward !== null)).toHaveLength(8);
    expect(dropped.filter((reward) => reward !== null)).toHaveLength(drop.counts.formed);
  });

  it('source schedule: a single pass asks about no source twice', async () => {
    const sources = async (name: string): Promise<string[]> => {
      const written = (await readers.get(name)!.get('round1/write')) as unknown as StepRecord;
      const all = [await first(name), await step(name, 'round1/proposer/001'), written];
      const notes = await Promise.all(all.map((record) => rolloutsOf(name, record)));
      return notes.flat().flatMap(({ role, source }) => (role === 'proposer' ? [source] : []));
    };
    await ablate('single', '--source-pool', 'single-pass');
    const once = await sources('single');
    expect(once.length).toBeGreaterThanOrEqual(24);
    expect(new Set(once).size).toBe(once.length);
    const recurring = await sources('plain');
    expect(new Set(recurring).size).toBeLessThan(recurring.length);
  });

  it('matcher: an answer that holds the label counts', async () => {
    await ablate('cover', '--matcher', 'cover');
    const [plain, cover] = [await first('plain'), await first('cover')];
    expect(answersOf(cover)).toEqual(answersOf(plain));
    const count = ({ feedback }: StepRecord): number => sum(feedback.map((f) => f.matches.filter(Boolean).length));
    expect(count(cover)).toBeGreaterThanOrEqual(count(plain));
    cover.feedback.forEach(({ matches }, i) => {
      const strict = plain.feedback[i]!.matches;
      expect(matches.every((own, j) => own || !strict[j])).toBe(true);
    });
    expect((await openReader(join(root, 'cover'))).manifest.config).toMatchObject({ matcher: 'cover' });
  });
});
