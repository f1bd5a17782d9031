/** A replay that is asked for more: seeds and arms are added, in any order and after any stop, and the values are the same. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPolicyEngine, policyDir } from '../../src/recipe/policies.ts';
import type { BankQuestion } from '../../src/recipe/replay/bank.ts';
import type { ReplayConfig, ReplayRequest } from '../../src/recipe/replay/config.ts';
import { replayRecord } from '../../src/recipe/replay/folder.ts';
import { replay } from '../../src/recipe/replay/replay.ts';
import { withMatcher } from '../../src/recipe/run-matcher.ts';
import { openTask } from '../../src/recipe/task.ts';
import type { StepRecord } from '../../src/record.ts';
import { openBlobs } from '../../src/store/blob.ts';
import { openReader } from '../../src/store/read.ts';
import { openRun } from '../../src/store/run.ts';
import { journal } from './journal.ts';
import { tinyConfig } from './tiny.ts';

const sized = (goldPerHop: number): ReplayConfig => {
  const loop = tinyConfig({ systems: ['dr-zero'], responses: 2, warmupSteps: 1, workers: 1 });
  return { loop: { ...loop, task: { ...loop.task, goldPerHop } as typeof loop.task }, bank: 'x', updates: 2, probe: 1 };
};
const config = sized(3);
const ALL = ['crossfit', 'half-budget'];

/** Stops after so many steps, computed or read, where it is given. */
async function ask(
  dir: string,
  arms: readonly string[],
  seeds: readonly number[],
  { stopAt = 0, own = config } = {},
): Promise<void> {
  const request: ReplayRequest = { arms, seeds };
  const spec = { recipe: 'replay', config: await replayRecord(dir, own), seed: 1, codeVersion: 'test', parents: [] };
  const run = await openRun(dir, spec);
  try {
    const engine = await openPolicyEngine(policyDir('mini'), run.blobs, 1);
    try {
      const task = await openTask(own.loop, engine.tokenizer);
      const bank = task.gold.map(({ id, text, source, hops, label }): BankQuestion => {
        return { id, question: text, label: label.answers[0]!, source, hops };
      });
      const stop = new AbortController();
      let told = 0;
      const report = (): void => {
        if (++told === stopAt) stop.abort();
      };
      await withMatcher(own.loop, { note: () => {}, warn: () => {} }, async (matcherIn) =>
        replay({
          config: own,
          request,
          run,
          engine,
          task,
          bank,
          report,
          matcher: await matcherIn(dir),
          signal: stop.signal,
        }),
      );
    } finally {
      await engine.close();
    }
  } finally {
    await run.close();
  }
}

type Values = Readonly<Record<string, unknown>>;
const values = async (dir: string): Promise<Values> =>
  Object.fromEntries((await journal(dir)).map((line) => Object.values(line as object)));
/** Those whose key is like that. */
const some = (all: Values, part: RegExp): Values =>
  Object.fromEntries(Object.entries(all).filter(([key]) => part.test(key)));

let root: string;
let whole: Values;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-grow-'));
  await ask(join(root, 'whole'), ALL, [1, 2]);
  whole = await values(join(root, 'whole'));
}, 180_000);
afterAll(() => rm(root, { recursive: true, force: true }));

describe('a replay that grows', () => {
  it('trains: half the budget is another policy than the whole', () => {
    const policyAfter = (step: string) => (whole[`seed1/fit/draft/source-own-0/${step}`] as StepRecord).after.policy;
    expect(policyAfter('000')).not.toBe(policyAfter('001'));
  });

  it('gives the values of one made in one go: the whole budget first, then half of it, then more seeds and arms', async () => {
    const dir = join(root, 'full-first');
    await ask(dir, ['crossfit'], [1]);
    expect(some(await values(dir), /half-budget|@1$/)).toEqual({});
    await ask(dir, ['half-budget'], [1]);
    await ask(dir, ALL, [1, 2]);
    expect(await values(dir)).toEqual(whole);
  });

  it('and half the budget first; what was asked for less is not taken away', async () => {
    const dir = join(root, 'half-first');
    await ask(dir, ['half-budget'], [1, 2]);
    // Goes on from the half.
    await ask(dir, ['crossfit'], [1]);
    expect(Object.keys(await values(dir)).filter((key) => /answer/.test(key))).toEqual([
      'base/answer',
      'seed1/answer/half-budget',
      'seed2/answer/half-budget',
      'seed1/answer/crossfit',
    ]);
    await ask(dir, ALL, [1, 2]);
    expect(await values(dir)).toEqual(whole);
  });

  it('whatever it was stopped at, and asked for then', async () => {
    const dir = join(root, 'stopped');
    const stopped = /stopped between two steps/;
    // After the first of two graders; then after one update of the second.
    await expect(ask(dir, ['half-budget'], [1], { stopAt: 4 })).rejects.toThrow(stopped);
    await expect(ask(dir, ['crossfit'], [1], { stopAt: 6 })).rejects.toThrow(stopped);
    await ask(dir, ['half-budget'], [1]);
    await ask(dir, ALL, [1]);
    expect(await values(dir)).toEqual(some(whole, /^(?!seed2)/));
  });

  it('refuses other settings', async () => {
    const dir = join(root, 'whole');
    const record = { ...(await replayRecord(dir, config)), updates: 3 };
    const spec = { recipe: 'replay', config: record, seed: 1, codeVersion: 'test', parents: [] };
    await expect(openRun(dir, spec)).rejects.toThrow(/config\.updates: 2 there, 3 now/);
  });
});

describe('a bank of which MSV admits too little', () => {
  it('is told of before the first fit, and goes on without that plan', async () => {
    const dir = join(root, 'small');
    const own = sized(1);
    await expect(ask(dir, ['coupled', 'msv+crossfit'], [1], { own })).rejects.toThrow(
      /^with seed 1 MSV admitted \d of the bank's 4 questions, and a grader of msv\+crossfit would be fitted on none of them\. What was computed is kept: leave that plan out of --plans, or replay a larger bank in another --run folder$/,
    );
    expect(Object.keys(await values(dir)).at(-1)).toBe('seed1/verify');
    await ask(dir, ['coupled'], [1], { own });
    expect(Object.keys(await values(dir)).at(-1)).toBe('seed1/answer/coupled');
  });
});

describe('a folder of an earlier version', () => {
  it('goes on, keeps its settings, and fits again where it did not keep the weights', async () => {
    const dir = join(root, 'earlier');
    await ask(dir, ['crossfit'], [1]);
    const file = join(dir, 'run.json');
    const written = JSON.parse(await readFile(file, 'utf8'));
    written.config = { ...written.config, arms: ['crossfit'], seeds: [1] };
    await writeFile(file, JSON.stringify(written));
    await writeFile(
      join(dir, 'journal.jsonl'),
      `${await readFile(join(dir, 'journal.jsonl'), 'utf8')}{"key":"done","value":{"kind":"done"},"at":"x","ms":0}\n`,
    );
    const blobs = openBlobs(join(dir, 'blobs'), async () => {});
    // The other grader's first update teaches it nothing: its state is the base policy's.
    const { after } = whole['seed1/fit/draft/source-own-0/000'] as StepRecord;
    expect(await blobs.has(after.policy)).toBe(true);
    await blobs.drop(after.policy);
    await blobs.drop(after.optimizer!);
    await ask(dir, ALL, [1]);
    const { config: kept } = (await openReader(dir)).manifest;
    expect(kept).toMatchObject({ arms: ['crossfit'], seeds: [1] });
    const grown = await values(dir);
    const first = some(whole, /^(?!seed2)/);
    expect(Object.keys(grown).filter((key) => !(key in first))).toEqual(['done', 'seed1/fit/draft/source-own-0@1/000']);
    expect(some(grown, /^(?!done|.*@1.000)/)).toEqual(first);
  });
});
