import { describe, expect, it } from 'vitest';
import { scriptedEngine } from '../../src/engine/scripted.ts';
import { openRun } from '../../src/store/run.ts';
import { type ChunkRecord, type PretrainPlan, type PretrainTask, pretrain } from '../../src/train/pretrain/pretrain.ts';
import { Interrupted } from '../../src/util/error.ts';
import { folder } from '../store/folder.ts';

const PLAN: PretrainPlan = {
  seed: 1,
  totalTokens: 25,
  chunkTokens: 10,
  batchTokens: 5,
  learningRate: 0.1,
  muonRate: 0.1,
  probeEvery: 2,
};

/** Endless examples of 5 tokens: a chunk is two of them, a batch one. */
const TASK: PretrainTask = {
  *examples() {
    for (;;) yield { tokens: [1, 2, 3, 4, 5], weights: [0, 1, 1, 1, 1] };
  },
  probe: async (policy) => ({ [policy]: 1 }),
};

interface Heard {
  readonly chunk: number;
  readonly replayed: boolean;
  readonly record: ChunkRecord;
}

/** Trains in `dir`; asks to stop once chunk `stopAfter` is done. */
async function train(dir: string, stopAfter?: number) {
  const run = await openRun(dir, { recipe: 'pretrain', config: PLAN, seed: 1, codeVersion: 'test', parents: [] });
  const heard: Heard[] = [];
  const stop = new AbortController();
  const listen = (record: ChunkRecord, chunk: number, _: number, replayed: boolean): void => {
    heard.push({ chunk, replayed, record });
    if (chunk === stopAfter) stop.abort();
  };
  try {
    const engine = scriptedEngine({ script: () => '', tags: [] });
    const ended = pretrain(engine, run, PLAN, TASK, listen, stop.signal);
    return { heard, ended: await ended.catch((error: unknown) => error) };
  } finally {
    await run.close();
  }
}

describe('pre-training', () => {
  it('counts tokens and steps over chunks, and measures every second one and the last', async () => {
    const { heard, ended } = await train(folder());
    expect(heard.map(({ record: { tokens, steps, probe } }) => [tokens, steps, probe])).toEqual([
      [10, 2, {}],
      [20, 4, { 'base+4': 1 }],
      [30, 6, { 'base+6': 1 }],
    ]);
    expect(ended).toMatchObject({ policy: 'base+6' });
  });

  it('stops at the next border between two chunks, and goes on to the same end', async () => {
    const dir = folder();
    const stopped = await train(dir, 0);
    expect(stopped.ended).toBeInstanceOf(Interrupted);
    expect(stopped.heard.map(({ chunk, replayed }) => [chunk, replayed])).toEqual([[0, false]]);
    const { heard, ended } = await train(dir);
    expect(heard.map(({ chunk, replayed }) => [chunk, replayed])).toEqual([
      [0, true],
      [1, false],
      [2, false],
    ]);
    const whole = await train(folder());
    expect([ended, heard.map(({ record }) => record)]).toEqual([whole.ended, whole.heard.map(({ record }) => record)]);
  });
});
