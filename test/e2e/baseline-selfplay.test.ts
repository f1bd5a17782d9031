/** Baselines that write their own questions, at tiny size on the local engine. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldAuditor } from '../../src/auditor/gold.ts';
import { runProgram } from '../../src/cli/program.ts';
import { exact } from '../../src/matcher/exact.ts';
import type { TrainConfig } from '../../src/recipe/baseline/config.ts';
import { trainReport } from '../../src/recipe/baseline/report.ts';
import type { Progress } from '../../src/recipe/progress.ts';
import type { SetupRecord, StepRecord, WriteRecord } from '../../src/record.ts';
import { openReader, type RunReader } from '../../src/store/read.ts';
import { getRollouts } from '../../src/train/measure.ts';
import { recorded } from '../cli/terminal.ts';
import { runTinyTrain } from './tiny-train.ts';

let root: string;
let zero: RunReader;
let sqlm: RunReader;
let progress: readonly Progress[];
/** As many steps as it takes for the proposer to learn once. */
const FIVE = { rounds: 1, solverSteps: 5 };
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-selfplay-'));
  progress = await runTinyTrain(join(root, 'r-zero'), 'r-zero');
  await runTinyTrain(join(root, 'sqlm'), 'sqlm', FIVE);
  zero = await openReader(join(root, 'r-zero'));
  sqlm = await openReader(join(root, 'sqlm'));
}, 180_000);
afterAll(() => rm(root, { recursive: true, force: true }));

const one = async <T>(reader: RunReader, key: string): Promise<T> => (await reader.get(key)) as T;
const notesOf = async (reader: RunReader, { rollouts }: { readonly rollouts: string }) =>
  getRollouts({ blobs: reader.blobs as never }, rollouts);

describe('r-zero', () => {
  it('alternates: the challenger of a round is polled by the solver that the round before left', async () => {
    const { base } = await one<SetupRecord>(zero, 'setup');
    const first = await one<StepRecord>(zero, 'round1/proposer/000');
    for (const { grader } of first.feedback) expect(grader).toBe(base.policy);
    const solver = (await one<StepRecord>(zero, 'round1/solver/001')).after.policy;
    const second = await one<StepRecord>(zero, 'round2/proposer/000');
    for (const { grader } of second.feedback) expect(grader).toBe(solver);
    expect(second.before).toEqual((await one<StepRecord>(zero, 'round1/proposer/001')).after);
    expect((await one<StepRecord>(zero, 'round2/solver/000')).before).toEqual({ policy: solver, optimizer: null });
  });

  it('labels with the majority of ten answers, and keeps a question when three to eight agree', async () => {
    const record = await one<WriteRecord & { rollouts: string }>(zero, 'round1/write');
    const notes = await notesOf(zero, record);
    expect(record.bank.length).toBe(4);
    record.bank.forEach(({ question, label }, place) => {
      const answers = notes.filter(({ role, feedback }) => role === 'solver' && feedback === place);
      expect(answers.length).toBe(10);
      expect(answers[0]!.about).toBe(question);
      const votes = answers.filter(({ rollout }) => rollout.answer === label).length;
      expect(votes).toBeGreaterThanOrEqual(3);
      expect(votes).toBeLessThanOrEqual(8);
      for (const { rollout } of answers)
        expect(
          answers.filter((other) => other.rollout.answer === rollout.answer && rollout.answer !== null).length,
        ).toBeLessThanOrEqual(votes);
    });
  });

  it('trains the solver on that bank alone', async () => {
    for (const round of [1, 2]) {
      const { bank } = await one<WriteRecord>(zero, `round${round}/write`);
      const labels = new Map(bank.map(({ question, label }) => [question, label]));
      const step = await one<StepRecord>(zero, `round${round}/solver/001`);
      for (const { question } of step.feedback) expect(labels.has(question)).toBe(true);
    }
  });

  it('reports how far it is, to the end', () => {
    const { done, total } = progress.at(-1)!;
    expect(done).toBeCloseTo(total, 6);
    expect(progress.filter(({ phase }) => phase === 'exam').map(({ round }) => round)).toEqual([0, 1, 2]);
  });
});

describe('sqlm', () => {
  it('is one policy with one optimizer, in both roles', async () => {
    const steps = await Promise.all([0, 1, 2, 3, 4].map((step) => one<StepRecord>(sqlm, `round1/solver/00${step}`)));
    expect(sqlm.keys('round1/proposer')).toEqual([]);
    for (const [i, step] of steps.entries()) {
      if (i > 0) expect(step.before).toEqual(steps[i - 1]!.after);
      for (const { grader } of step.feedback) expect(grader).toBe(step.before.policy);
    }
    const trained = await Promise.all(steps.map((step) => notesOf(sqlm, step)));
    const learns = trained.map((notes) => notes.some((n) => n.role === 'proposer' && n.advantage !== 0));
    expect(learns.slice(0, 4)).toEqual([false, false, false, false]);
    const last = steps[4]!;
    const solver = trained[4]!.filter((n) => n.role === 'solver' && n.advantage !== 0).length;
    expect(last.update.trained - solver).toBe(trained[4]!.filter((n) => n.role === 'proposer' && n.advantage).length);
  });

  it('logs and reports the hops that were asked and those that were written', async () => {
    const config = sqlm.manifest.config as unknown as TrainConfig;
    const [mix] = (await trainReport(sqlm, config, goldAuditor(exact))).hopMix;
    const count = (of: Readonly<Record<string, number>>) => Object.values(of).reduce((a, b) => a + b, 0);
    expect(count(mix!.prompted)).toBe(20);
    expect(count(mix!.written)).toBeGreaterThan(10);
    expect(mix!.kept).toBeNull();
    const [zeroMix] = (await trainReport(zero, { ...config, recipe: 'r-zero' }, goldAuditor(exact))).hopMix;
    expect(count(zeroMix!.kept!)).toBe(4);
  });

  it('is audited like any other run: truth of the majorities', async () => {
    const { terminal, out, err } = recorded();
    expect(await runProgram(['audit', join(root, 'sqlm'), '--json'], terminal), err()).toBe(0);
    const { shares, coverage } = JSON.parse(out()).rounds[0].scopes.scheduled;
    expect(coverage).toBeGreaterThan(0.5);
    expect(shares.A - shares.TS).toBeCloseTo(shares.F - shares.L, 12);
  });
});
