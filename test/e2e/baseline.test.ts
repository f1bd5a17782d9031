/** Baselines with gold questions, at tiny size on the local engine, by the command and step by step. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { loadTokenizer } from '../../src/engine/tokenizer-file.ts';
import { goldOfTask } from '../../src/recipe/baseline/gold.ts';
import { policyDir } from '../../src/recipe/policies.ts';
import type { Progress } from '../../src/recipe/progress.ts';
import { openTask } from '../../src/recipe/task.ts';
import type { EvaluationRecord, StepRecord } from '../../src/record.ts';
import { openReader, type RunReader } from '../../src/store/read.ts';
import { getRollouts } from '../../src/train/measure.ts';
import type { Rollout } from '../../src/types.ts';
import { recorded } from '../cli/terminal.ts';
import { journal } from './journal.ts';
import { tinyConfig } from './tiny.ts';
import { runTinyTrain } from './tiny-train.ts';

let root: string;
const readers: Record<string, RunReader> = {};
const flags = (recipe: string, run: string): string[] => [
  ...['train', recipe, '--run', join(root, run), '--json', '--rounds', '1', '--solver-steps', '2', '--questions', '4'],
  ...['--responses', '3', '--gold-per-hop', '3', '--train-questions', '12', '--admitted', '4'],
];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-baseline-'));
  for (const recipe of ['r1', 'sft', 'rejection'] as const) {
    await runTinyTrain(join(root, recipe), recipe);
    readers[recipe] = await openReader(join(root, recipe));
  }
}, 180_000);
afterAll(() => rm(root, { recursive: true, force: true }));

const one = async <T>(recipe: string, key: string): Promise<T> => (await readers[recipe]!.get(key)) as T;
const rolloutsOf = async (recipe: string, key: string): Promise<Rollout[]> => {
  const { blobs } = readers[recipe]!;
  const record = await one<StepRecord | EvaluationRecord>(recipe, key);
  const notes = await getRollouts({ blobs: blobs as never }, record.rollouts);
  return notes.map(({ rollout }) => rollout);
};
const notices = (rollouts: readonly Rollout[]): string[] =>
  rollouts.flatMap(({ turns }) => turns.flatMap((t) => (t.kind === 'search' ? [t.notice ?? 'found'] : [])));

describe('gold questions of a task', () => {
  it('follow the hop mix, and none is in the exam', async () => {
    const config = tinyConfig();
    const task = await openTask(config, await loadTokenizer(policyDir('mini')));
    const gold = goldOfTask(config, task, 200);
    expect([1, 2, 3, 4].map((h) => gold.filter(({ hops }) => hops === h).length)).toEqual([80, 60, 40, 20]);
    const exam = new Set(task.gold.flatMap(({ id, text }) => [id, text]));
    expect(gold.filter(({ id, question }) => exam.has(id) || exam.has(question))).toEqual([]);
    expect(new Set(gold.map(({ id }) => id)).size).toBe(200);
  });
});

describe('search-r1', () => {
  it('is one command: exam by hop, gold labels, and the audit of its run', async () => {
    const { terminal, out, err } = recorded();
    expect(await runProgram(flags('search-r1', 'command'), terminal), err()).toBe(0);
    const report = JSON.parse(out());
    expect(Object.keys(report.rounds[0].downstream.byHops)).toEqual(['1', '2', '3', '4']);
    // The labels are gold: every one is true, and agreement is accuracy.
    expect(report.rounds[0].scopes.scheduled.shares).toMatchObject({ TP: 1, F: 0, L: 0 });
    expect(report.config).toMatchObject({ recipe: 'search-r1', gold: { file: null, questions: 12 } });
    expect(report.hopMix).toEqual([]);
    expect(report.done).toBe(true);

    const shown = recorded();
    expect(await runProgram(['show', join(root, 'command')], shown.terminal), shown.err()).toBe(0);
    expect(shown.out()).toContain('train of search-r1 in world 1');
    const asked = recorded();
    expect(
      await runProgram(['ask', 'home of Mara Voss ?', '--run', join(root, 'command'), '--json'], asked.terminal),
    ).toBe(0);
    expect(JSON.parse(asked.out())).toMatchObject({ system: 'search-r1', round: 1 });

    const again = recorded();
    expect(await runProgram(flags('search-r1', 'command'), again.terminal)).toBe(0);
    expect(JSON.parse(again.out())).toEqual(report);
  }, 180_000);

  it('refuses gold questions for a recipe that writes its own, and unknown recipes', async () => {
    const own = recorded();
    expect(await runProgram(flags('sqlm', 'none'), own.terminal)).toBe(2);
    expect(own.err()).toContain('sqlm writes its own questions; leave out --train');
    const other = recorded();
    expect(await runProgram(['train', 'grpo'], other.terminal)).toBe(2);
    expect(other.err()).toContain('search-r1');
  });
});

describe('r1', () => {
  it('never searches, in training and exam alike, and is told so', async () => {
    for (const key of ['base/evaluate', 'round1/solver/000', 'round2/evaluate']) {
      const rollouts = await rolloutsOf('r1', key);
      expect(rollouts.every(({ searches }) => searches === 0)).toBe(true);
      expect(new Set(notices(rollouts)).has('found')).toBe(false);
      expect(notices(rollouts)).toContain('search_limit');
    }
  });

  it('keeps one optimizer over its rounds', async () => {
    const last = await one<StepRecord>('r1', 'round1/solver/001');
    expect((await one<StepRecord>('r1', 'round2/solver/000')).before).toEqual(last.after);
  });
});

describe('fine-tuning', () => {
  it('sft changes the weights in every step, asks nobody, and names whose labels it used', async () => {
    for (const key of ['round1/solver/000', 'round2/solver/001']) {
      const step = await one<StepRecord>('sft', key);
      expect(step.update.trained).toBe(4);
      expect(step.after.policy).not.toBe(step.before.policy);
      expect(step.usage.sampled).toBe(0);
      expect(step.feedback.flatMap(({ responses }) => responses)).toEqual([]);
      expect(step.feedback.length).toBe(4);
    }
  });

  it('rejection imitates what was correct when it sampled, and samples anew every round', async () => {
    for (const round of [1, 2]) {
      const sample = await one<StepRecord>('rejection', `round${round}/sample`);
      expect(sample.after).toEqual(sample.before);
      const right = (await rolloutsOf('rejection', `round${round}/sample`)).filter(
        (_, i) => sample.feedback.flatMap(({ matches }) => matches)[i],
      );
      const imitated = await rolloutsOf('rejection', `round${round}/solver/000`);
      expect(imitated.length).toBeGreaterThan(0);
      for (const rollout of imitated) expect(right).toContainEqual(rollout);
    }
    const [first, second] = await Promise.all(
      [1, 2].map((round) => one<StepRecord>('rejection', `round${round}/sample`)),
    );
    expect(second!.before.policy).toBe((await one<StepRecord>('rejection', 'round1/solver/001')).after.policy);
    expect(first!.before.policy).not.toBe(second!.before.policy);
  });
});

describe('a run that was stopped', () => {
  it('goes on to the same end, from what it had sampled', async () => {
    const dir = join(root, 'stopped');
    const stop = ({ key }: Progress) => key === 'round1/sample';
    await expect(runTinyTrain(dir, 'rejection', {}, stop)).rejects.toThrow('stopped between two steps');
    expect((await journal(dir)).length).toBe(3);
    await runTinyTrain(dir, 'rejection');
    expect(await journal(dir)).toEqual(await journal(join(root, 'rejection')));
  }, 180_000);
});
