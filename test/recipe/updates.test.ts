import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { StateRef } from '../../src/engine.ts';
import { type Chain, sideBySide } from '../../src/recipe/updates.ts';
import type { StepRecord } from '../../src/record.ts';
import { openRun } from '../../src/store/run.ts';
import { folder, spec } from '../store/folder.ts';

const state = (policy: string): StateRef => ({ policy, optimizer: null });

/** Appends its letter to the policy's name at every update. `ms[step]`: how long it takes. */
function chainOf(letter: string, ms: readonly number[], started: string[], over: Partial<Chain> = {}): Chain {
  return {
    start: state(letter),
    count: ms.length,
    key: (step) => `${letter}/${step}`,
    async compute(before, step) {
      started.push(`${letter}${step}`);
      await wait(ms[step]!);
      return { after: state(before.policy + letter) } as StepRecord;
    },
    ...over,
  };
}

async function play(dir: string, chains: (started: string[]) => readonly Chain[], keep: readonly StateRef[] = []) {
  const run = await openRun(dir, spec);
  const dropped: string[] = [];
  const started: string[] = [];
  const told: string[] = [];
  const blobs = { drop: async (id: string) => void dropped.push(id) };
  try {
    const states = await sideBySide(run, { engine: {}, blobs }, chains(started), keep, {
      begin: () => {},
      done: (key) => void told.push(key),
    });
    return { states: states.map((own) => own.map(({ policy }) => policy)), dropped, started, told };
  } finally {
    await run.close();
  }
}

const keysOf = (dir: string): string[] =>
  readFileSync(join(dir, 'journal.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { key: string }).key);

describe('updates side by side', () => {
  it('run at once and are journalled in the order of the chains, whoever is faster', async () => {
    const dir = folder();
    const two = (started: string[]) => [chainOf('a', [40, 1, 1], started), chainOf('b', [1, 40], started)];
    const { states, dropped, started, told } = await play(dir, two);
    const order = ['a/0', 'b/0', 'a/1', 'b/1', 'a/2'];
    expect(keysOf(dir)).toEqual(order);
    expect(told).toEqual(order);
    // Both first updates begin before either has ended.
    expect(started).toEqual(['a0', 'b0', 'a1', 'b1', 'a2']);
    expect(states).toEqual([
      ['aa', 'aaa', 'aaaa'],
      ['bb', 'bbb'],
    ]);
    expect(dropped.sort()).toEqual(['aa', 'aaa', 'bb']);
  });

  it('keep marked states and those that another chain stands on', async () => {
    const shared = (started: string[]) => [
      chainOf('a', [1, 1, 1], started, { marked: (updates) => updates === 1 }),
      chainOf('b', [1], started, { compute: async () => ({ after: state('aaa') }) as StepRecord }),
    ];
    expect((await play(folder(), shared)).dropped).toEqual([]);
  });

  it('go on where they stopped, and write nothing behind one that failed', async () => {
    const dir = folder();
    let broken = true;
    const chains = (started: string[]) => [
      chainOf('a', [1, 1], started, {
        compute: async (before, step) => {
          started.push(`a${step}`);
          await wait(20);
          if (step === 1 && broken) throw new Error('outage');
          return { after: state(`${before.policy}a`) } as StepRecord;
        },
      }),
      chainOf('b', [1, 1], started),
    ];
    await expect(play(dir, chains)).rejects.toThrow('outage');
    expect(keysOf(dir)).toEqual(['a/0', 'b/0']);
    broken = false;
    const { started, states } = await play(dir, chains);
    expect(started).toEqual(['a1', 'b1']);
    expect(keysOf(dir)).toEqual(['a/0', 'b/0', 'a/1', 'b/1']);
    expect(states.map((own) => own.at(-1))).toEqual(['aaa', 'bbb']);
  });
});
