/** The folder of a replay. It grows with what is asked of it: arms and seeds are no part of its name, nor of its run.json. */
import { basename, join } from 'node:path';
import { readManifest } from '../../store/manifest.ts';
import { exists } from '../../util/disk.ts';
import { contentId } from '../../util/id.ts';
import { unplaced } from '../address.ts';
import { loopRecord } from '../loop-record.ts';
import type { ReplayConfig, ReplayRequest } from './config.ts';
import { ARMS } from './plan.ts';

/** `runs/replay-BANK-mark`. Earlier versions marked it by arms and seeds too: where such a folder is there, it is gone on with. */
export async function replayFolder(
  bank: string,
  config: ReplayConfig,
  { arms, seeds }: ReplayRequest,
): Promise<string> {
  const named = (settings: object): string =>
    join(
      'runs',
      `replay-${basename(bank).replace(/[^\w.-]+/g, '_')}-${contentId(JSON.stringify(settings)).slice(0, 6)}`,
    );
  const { updates, probe, ...rest } = { ...config, loop: unplaced(config.loop) };
  const [own, earlier] = [named({ ...rest, updates, probe }), named({ ...rest, arms, seeds, updates, probe })];
  return !(await exists(own)) && (await exists(earlier)) ? earlier : own;
}

/** The settings for run.json in `dir`. Folders of earlier versions have the arms and seeds of their first command and keep them. */
export async function replayRecord(dir: string, config: ReplayConfig): Promise<object> {
  const written = (await readManifest(dir))?.config as Partial<ReplayRequest> | undefined;
  const { arms, seeds } = written ?? {};
  return {
    ...config,
    loop: await loopRecord(dir, config.loop),
    ...(arms === undefined ? {} : { arms }),
    ...(seeds === undefined ? {} : { seeds }),
  };
}

export const answerKey = (seed: number, arm: string): string => `seed${seed}/answer/${arm}`;

/** Is all that is asked for among the keys of a journal? An arm of a seed ends with its answers. */
export const isFinished = (keys: readonly string[], { arms, seeds }: ReplayRequest): boolean => {
  const found = new Set(keys);
  return seeds.every((seed) => arms.every((arm) => found.has(answerKey(seed, arm))));
};

/** What a journal has answers of: arms in the order of their table, seeds ascending. */
export function heldIn(keys: readonly string[]): ReplayRequest {
  const found = keys.flatMap((key) => {
    const [, seed, arm] = /^seed(\d+)\/answer\/(.+)$/.exec(key) ?? [];
    return seed === undefined ? [] : [{ seed: Number(seed), arm: arm! }];
  });
  const arms = new Set(found.map(({ arm }) => arm));
  return {
    arms: ARMS.map(({ name }) => name).filter((name) => arms.has(name)),
    seeds: [...new Set(found.map(({ seed }) => seed))].sort((a, b) => a - b),
  };
}
