/** The settings of the loop as `train` and `replay` write them into run.json: without the systems, which neither runs. */
import { readManifest } from '../store/manifest.ts';
import { asRecorded } from './address.ts';
import type { EvolveConfig } from './config.ts';
import { COMMANDS } from './presets.ts';

/** For the folder `dir`. Folders of earlier versions have systems and keep them, whatever they say, to be gone on with. */
export async function loopRecord(dir: string, config: EvolveConfig): Promise<object> {
  const { systems: _, ...loop } = await asRecorded(dir, config);
  const written = (await readManifest(dir))?.config as { readonly loop?: { readonly systems?: unknown } } | undefined;
  const systems = written?.loop?.systems;
  return systems === undefined ? loop : { ...loop, systems };
}

/** The record as settings, still to be checked. */
export const loopFrom = (record: object): object => ({ systems: COMMANDS.evolve, ...record });
