/** Banks too small for a split are told before anything is computed; folders of replays, by name and by what they hold. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { foldOf } from '../../src/method/fold.ts';
import type { BankQuestion } from '../../src/recipe/replay/bank.ts';
import type { ReplayConfig } from '../../src/recipe/replay/config.ts';
import { heldIn, isFinished, replayFolder, replayRecord } from '../../src/recipe/replay/folder.ts';
import { checkParts, checkVerified } from '../../src/recipe/replay/parts.ts';
import { ARMS, askings } from '../../src/recipe/replay/plan.ts';
import { contentId } from '../../src/util/id.ts';
import { tinyConfig } from '../e2e/tiny.ts';

const row = (source: string, i = 0): BankQuestion => ({
  id: `${source}${i}`,
  question: 'q',
  label: 'a',
  source,
  hops: 1,
});

describe('a bank too small for a split', () => {
  it('stands on these folds of seeds 1 to 5', () => {
    const folds = (unit: string) => [1, 2, 3, 4, 5].map((seed) => foldOf(seed, unit)).join('');
    expect([folds('e1'), folds('e2')]).toEqual(['11110', '00101']);
    expect([folds('question e20'), folds('question e21')]).toEqual(['00000', '01010']);
  });

  it('is refused with the plans and seeds that would lack a question', () => {
    const two = [row('e1'), row('e2')];
    const asked = (arms: readonly string[], seeds: readonly number[], limited: boolean) => () =>
      checkParts(two, { arms, seeds }, limited);
    const plans = ['coupled', 'crossfit', 'msv+half-budget'];
    expect(asked(['coupled', 'full-data'], [1, 2, 3], false)).not.toThrow();
    expect(asked(plans, [1, 2], false)).not.toThrow();
    expect(asked(plans, [1, 2, 3, 4], false)).toThrow(
      /it would be fitted on none of them\. Give a larger bank, leave plans out of --plans, or ask for --seeds 2$/,
    );
    expect(asked(plans, [1, 2, 3, 4], true)).toThrow(
      /^the bank has 2 questions of 2 sources, too few for a grader of crossfit, msv\+half-budget with seed 3: it would be fitted on none of them\. Give a larger bank \(or a higher --limit\), leave plans out of --plans, or ask for --seeds 2$/,
    );
  });

  it('is refused where --limit left one source, for the plans that split sources; or one question', () => {
    const one = [row('e2'), row('e2', 1)];
    const refused = (arms: readonly string[]) => () => checkParts(one, { arms, seeds: [1, 2, 3, 4, 5] }, true);
    expect(refused(['coupled', 'full-data'])).not.toThrow();
    expect(refused(['same-source'])).toThrow(
      /2 questions of 1 source, too few for a grader of same-source with seeds 1, 2, 3 and 2 more: .* Give a larger bank \(or a higher --limit\) or leave plans out of --plans$/,
    );
    expect(refused(['random-question', 'coupled', 'crossfit'])).toThrow(
      /of random-question with seeds 1, 3, 5; of crossfit with seeds 1, 2, 3 and 2 more: it/,
    );
    expect(() => checkParts(one.slice(1), { arms: ['crossfit'], seeds: [1] }, false)).toThrow(
      /^the bank has 1 question of 1 source,/,
    );
  });

  it('may be what MSV leaves of a bank', () => {
    expect(() => checkVerified([], 5, ['msv+coupled', 'msv+crossfit'], 1)).toThrow(
      "with seed 1 MSV admitted 0 of the bank's 5 questions, and a grader of msv+coupled, msv+crossfit would be fitted on none of them. What was computed is kept: leave those plans out of --plans, or replay",
    );
    expect(() => checkVerified([row('e2')], 5, ['msv+coupled'], 4)).not.toThrow();
  });
});

describe('the states that a fit keeps', () => {
  const marks = (name: string, updates: number) =>
    askings(ARMS.find((arm) => arm.name === name)!, [row('e2')], 1, updates).map(({ fit }) => fit.marks);
  it('are those that any plan asks of it', () => {
    // Half of 25 is 13 + 12.
    for (const name of ['crossfit', 'same-source', 'half-budget', 'msv+crossfit'])
      expect(marks(name, 25)).toEqual([
        [25, 25, 13],
        [25, 25, 12],
      ]);
    expect(marks('full-data', 25)).toEqual([[25], [25]]);
    expect(marks('coupled', 25)).toEqual([[25]]);
  });
});

describe('the folder of a replay', () => {
  const config: ReplayConfig = { loop: tinyConfig(), bank: 'b', updates: 2, probe: 4 };
  const three = { arms: ['coupled'], seeds: [1, 2, 3] };
  const five = { arms: ['crossfit', 'coupled'], seeds: [1, 2, 3, 4, 5] };
  const home = process.cwd();
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'crossfold-folder-'));
    process.chdir(dir);
  });
  afterEach(() => {
    process.chdir(home);
    rmSync(dir, { recursive: true });
  });

  it('has one name for all seeds and arms, and another for another bank, size or settings', async () => {
    const name = await replayFolder('x/my bank.jsonl', config, three);
    expect(name).toMatch(/^runs\/replay-my_bank\.jsonl-[0-9a-f]{6}$/);
    expect(await replayFolder('x/my bank.jsonl', config, five)).toBe(name);
    for (const other of [{ bank: 'c' }, { updates: 3 }, { probe: 5 }, { loop: tinyConfig({ responses: 4 }) }])
      expect(await replayFolder('x/my bank.jsonl', { ...config, ...other }, three)).not.toBe(name);
  });

  it('may be one of an earlier version, which was named by its seeds and arms', async () => {
    const { loop, bank, updates, probe } = config;
    const mark = contentId(JSON.stringify({ loop, bank, ...three, updates, probe })).slice(0, 6);
    mkdirSync(`runs/replay-b-${mark}`, { recursive: true });
    expect(await replayFolder('b', config, three)).toBe(`runs/replay-b-${mark}`);
    expect(await replayFolder('b', config, five)).not.toBe(`runs/replay-b-${mark}`);
    mkdirSync(await replayFolder('b', config, five));
    expect(await replayFolder('b', config, three)).toBe(await replayFolder('b', config, five));
  });

  it('names its settings alone, and those that earlier versions wrote beside them', async () => {
    expect(Object.keys(await replayRecord('.', config)).sort()).toEqual(['bank', 'loop', 'probe', 'updates']);
    const written = { ...config, arms: ['coupled'], seeds: [1] };
    writeFileSync(
      'run.json',
      JSON.stringify({ schema: 1, recipe: 'replay', config: written, seed: 1, codeVersion: 'x', parents: [] }),
    );
    expect(await replayRecord('.', { ...config, updates: 9 })).toEqual({ ...written, updates: 9 });
  });

  it('says what it holds, and whether that is all', () => {
    const keys = [
      'base/answer',
      'seed10/answer/crossfit',
      'seed2/answer/msv+coupled',
      'seed2/answer/crossfit',
      'seed3/verify',
    ];
    expect(heldIn(keys)).toEqual({ arms: ['crossfit', 'msv+coupled'], seeds: [2, 10] });
    expect(isFinished(keys, { arms: ['crossfit'], seeds: [2, 10] })).toBe(true);
    expect(isFinished(keys, { arms: ['crossfit'], seeds: [2, 3] })).toBe(false);
    expect(isFinished([...keys, 'done'], { arms: ['crossfit', 'msv+coupled'], seeds: [2, 10] })).toBe(false);
  });
});
