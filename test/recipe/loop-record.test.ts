/** Systems are no settings of train and replay: new folders do not have them, older ones are gone on with. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { configOf } from '../../src/cli/opened.ts';
import type { EvolveConfig } from '../../src/recipe/config.ts';
import { loopRecord } from '../../src/recipe/loop-record.ts';
import { openReader } from '../../src/store/read.ts';
import { openRun } from '../../src/store/run.ts';
import { tinyConfig } from '../e2e/tiny.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'crossfold-loop-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const open = async (loop: object, recipe = 'train') => {
  const config = { recipe: 'r1', loop, gold: null };
  await (await openRun(dir, { recipe, config, seed: 3, codeVersion: 'x', parents: [] })).close();
};
const written = async () =>
  ((await openReader(dir)).manifest.config as unknown as { loop: Partial<EvolveConfig> }).loop;
const config = tinyConfig({ systems: ['crossfit'] });

it.each(['train', 'replay'])('a new folder of %s has none, and goes on', async (recipe) => {
  await open(await loopRecord(dir, config), recipe);
  expect(await written()).not.toHaveProperty('systems');
  expect(await written()).toMatchObject({ rounds: config.rounds, seed: config.seed });
  // Another one by a file of settings changes nothing.
  await open(await loopRecord(dir, tinyConfig({ systems: ['msv'] })), recipe);
});

it('an older folder goes on with those it has', async () => {
  await open(tinyConfig({ systems: ['dr-zero'] }));
  await open(await loopRecord(dir, config));
  expect((await written()).systems).toEqual(['dr-zero']);
  const other = await loopRecord(dir, { ...config, rounds: 9 });
  await expect(open(other)).rejects.toThrow(/config\.loop\.rounds: \d there, 9 now/);
});

it('either can be read as settings', async () => {
  await open(await loopRecord(dir, tinyConfig({ systems: ['msv'] })));
  expect(configOf(await openReader(dir))).toEqual({ ...config, systems: ['crossfit'] });
});
