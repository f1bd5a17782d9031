import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldOf } from '../../src/method/fold.ts';
import type { EvaluationRecord, SetupRecord, StepRecord, WriteRecord } from '../../src/record.ts';
import { openReader, type RunReader } from '../../src/store/read.ts';
import { runTiny, tinyConfig } from './tiny.ts';

const { seed } = tinyConfig();
let root: string;
let reader: RunReader;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-loop-'));
  await runTiny(join(root, 'run'));
  reader = await openReader(join(root, 'run'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function values<T>(pattern: RegExp): Promise<T[]> {
  const out: T[] = [];
  for (const key of reader.keys()) if (pattern.test(key)) out.push((await reader.get(key)) as T);
  return out;
}
const one = async <T>(key: string): Promise<T> => (await reader.get(key)) as T;

describe('the loop', () => {
  it('shares round 1 and branches after it', async () => {
    const keys = [...reader.keys()];
    expect(keys.filter((k) => k.startsWith('round1/')).length).toBe(2 + 1 + 2 + 1);
    for (const system of ['dr-zero', 'crossfit']) {
      const first = await one<StepRecord>(`${system}/round2/proposer/000`);
      const last = await one<StepRecord>('round1/proposer/001');
      expect(first.before).toEqual(last.after);
    }
  });

  it('starts the solver with fresh optimizer state each round and keeps its weights', async () => {
    const last = await one<StepRecord>('round1/solver/001');
    const next = await one<StepRecord>('crossfit/round2/solver/000');
    expect(next.before).toEqual({ policy: last.after.policy, optimizer: null });
  });

  it('starts auxiliaries from the base policy and trains each on its own fold alone', async () => {
    const { base } = await one<SetupRecord>('setup');
    for (const auxiliary of [0, 1]) {
      const steps = await values<StepRecord>(new RegExp(`^crossfit/round1/auxiliary${auxiliary}/`));
      expect(steps.length).toBe(2);
      expect(steps[0]!.before).toEqual(base);
      for (const s of steps) for (const f of s.feedback) expect(foldOf(seed, f.source)).toBe(auxiliary);
    }
    expect(await values(/^dr-zero\/.*auxiliary/)).toEqual([]);
  });

  it('grades a question of fold h by the auxiliary of the other fold, and by the main solver under dr-zero', async () => {
    const policyAfter = async (key: string): Promise<string> => (await one<StepRecord>(key)).after.policy;
    const auxiliaries = [
      await policyAfter('crossfit/round1/auxiliary0/001'),
      await policyAfter('crossfit/round1/auxiliary1/001'),
    ];
    const crossfit = (await values<StepRecord>(/^crossfit\/round2\/proposer\//)).flatMap((s) => s.feedback);
    expect(crossfit.length).toBeGreaterThan(0);
    for (const f of crossfit) expect(f.grader).toBe(auxiliaries[1 - foldOf(seed, f.source)]);
    const main = await policyAfter('round1/solver/001');
    for (const s of await values<StepRecord>(/^dr-zero\/round2\/proposer\//)) {
      for (const f of s.feedback) expect(f.grader).toBe(main);
    }
  });

  it('trains the main solver on all admitted questions under both systems', async () => {
    for (const system of ['dr-zero', 'crossfit']) {
      const { bank } = await one<WriteRecord>(`${system}/round2/write`);
      const admitted = new Set(bank.map((q) => q.question));
      const steps = await values<StepRecord>(new RegExp(`^${system}/round2/solver/`));
      for (const f of steps.flatMap((s) => s.feedback)) expect(admitted.has(f.question)).toBe(true);
    }
  });

  it('changes weights in every step that taught something, and sampler and trainer agree', async () => {
    const steps = await values<StepRecord>(/(proposer|solver|auxiliary\d)\/\d+$/);
    for (const s of steps) {
      expect(s.after.policy === s.before.policy).toBe(s.update.trained === 0);
      expect(Math.abs(s.update.klSamplerTrainer)).toBeLessThan(1e-4);
    }
    expect(steps.some((s) => s.update.trained > 0)).toBe(true);
  });

  it('examines base, shared round and each system on all gold questions', async () => {
    const exams = await values<EvaluationRecord>(/evaluate$/);
    expect(exams.map((e) => [e.system, e.round, e.em.length])).toEqual([
      ['base', 0, 12],
      ['shared', 1, 12],
      ['dr-zero', 2, 12],
      ['crossfit', 2, 12],
    ]);
  });

  it('trains the auxiliaries of the next round beside the solver: in step, on the same bank, none in the last round', async () => {
    const dir = join(root, 'three');
    await runTiny(dir, { systems: ['crossfit'], rounds: 3, solverSteps: 3 });
    const three = await openReader(dir);
    const at = (step: number): string[] =>
      ['solver', 'auxiliary0', 'auxiliary1'].map((phase) => `crossfit/round2/${phase}/00${step}`);
    const keys = three.keys();
    expect(keys.slice(keys.indexOf('crossfit/round2/write') + 1, keys.indexOf('crossfit/round2/evaluate'))).toEqual([
      ...at(0),
      ...at(1),
      'crossfit/round2/solver/002',
    ]);
    expect(three.keys('crossfit/round3').filter((key) => key.includes('auxiliary'))).toEqual([]);
    const first = (await three.get('crossfit/round1/auxiliary0/001')) as unknown as StepRecord;
    const next = (await three.get('crossfit/round2/auxiliary0/000')) as unknown as StepRecord;
    expect(next.before).toEqual(first.after);
    const { bank } = (await three.get('crossfit/round2/write')) as unknown as WriteRecord;
    expect(bank.map(({ question }) => question)).toEqual(expect.arrayContaining(next.feedback.map((f) => f.question)));
    // Though they run at once, each counts its own tokens alone.
    for (const key of at(0)) {
      const step = (await three.get(key)) as unknown as StepRecord;
      expect(step.usage.sampled).toBe(Math.round(step.rollout.tokens * step.counts.trajectories));
    }
  });

  it('stops with the names when a grader descends from a source it would grade', async () => {
    const { checkAncestry, FEEDBACK_PLANS } = await import('../../src/method/feedback.ts');
    expect(() =>
      checkAncestry('crossfit', FEEDBACK_PLANS.crossfit, 'p1', new Set(['mara-voss']), [{ source: 'mara-voss' }]),
    ).toThrow(/mara-voss/);
  });
});
