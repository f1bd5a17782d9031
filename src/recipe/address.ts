/** How a run reaches its servers: addresses are among its settings, and are not what it is. A server that moves is the same. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from '../store/manifest.ts';
import { codeOf, diskError, replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import type { EvolveConfig } from './config.ts';

/** Settings that hold an address, and what stands before it. */
const PLACES = { engine: 'tinker:', judge: 'openai:' } as const;
type Place = keyof typeof PLACES;

const placesIn = (config: Readonly<Record<string, unknown>>): Place[] =>
  (Object.keys(PLACES) as Place[]).filter((name) => {
    const value = config[name];
    return typeof value === 'string' && value.startsWith(PLACES[name]);
  });

export const unplaced = (config: EvolveConfig): EvolveConfig => ({
  ...config,
  ...Object.fromEntries(placesIn(config).map((name) => [name, PLACES[name]])),
});

/** `config` with the addresses of `there`, where both have one. */
const placed = (config: EvolveConfig, there: Readonly<Record<string, unknown>>): EvolveConfig => {
  const both = placesIn(there).filter((name) => placesIn(config).includes(name));
  return { ...config, ...Object.fromEntries(both.map((name) => [name, there[name]])) };
};

/**
 * The settings with the addresses that the run in `dir` has, where both have one: the address and what is known of the server
 * after `#` are how it is reached.
 */
export async function asRecorded(dir: string, config: EvolveConfig): Promise<EvolveConfig> {
  if (placesIn(config).length === 0) return config;
  const written = ((await readManifest(dir))?.config ?? {}) as { readonly loop?: object };
  // Of train and replay, the settings of the loop stand beside their own.
  const there = { ...(written.loop ?? written) } as Readonly<Record<string, unknown>>;
  return placed(config, there);
}

/** Beside run.json, which never changes: where the servers of the run were when it last went on. */
const fileOf = (dir: string): string => join(dir, 'addresses.json');

/** To be called when the servers of the run have answered. */
export async function recordAddresses(dir: string, config: EvolveConfig): Promise<void> {
  const places = placesIn(config);
  if (places.length === 0) return;
  const addresses = Object.fromEntries(places.map((name) => [name, config[name]]));
  await replaceFile(fileOf(dir), `${JSON.stringify(addresses, null, 2)}\n`);
}

/** The settings of the run in `dir` with the addresses that it last had. @throws UserError for a damaged record */
export async function lastAddresses(dir: string, config: EvolveConfig): Promise<EvolveConfig> {
  if (placesIn(config).length === 0) return config;
  const file = fileOf(dir);
  try {
    return placed(config, Object(JSON.parse(await readFile(file, 'utf8'))));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return config;
    if (error instanceof SyntaxError)
      throw new UserError(`${file}: not JSON; remove it, and name the server of the run with --engine`);
    throw diskError(file, 'read', error);
  }
}

/** The same with the engine's server at `engine`. @throws UserError where the run has none, or another kind. */
export function engineAt(engine: string, config: EvolveConfig): EvolveConfig {
  if (!placesIn(config).includes('engine'))
    throw new UserError(`--engine is "${engine}", but the run was made on the local engine, which has its weights`);
  if (!engine.startsWith(PLACES.engine))
    throw new UserError(`--engine is "${engine}", but the weights of the run are on a server; name it as tinker:URL`);
  return { ...config, engine };
}
