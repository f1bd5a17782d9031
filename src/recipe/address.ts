/** How a run reaches its servers: addresses are among its settings, and are not what it is. A server that moves is the same. */
import { readManifest } from '../store/manifest.ts';
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

/**
 * The settings with the addresses that the run in `dir` has, where both have one: the address and what is known of the server
 * after `#` are how it is reached.
 */
export async function asRecorded(dir: string, config: EvolveConfig): Promise<EvolveConfig> {
  const places = placesIn(config);
  if (places.length === 0) return config;
  const written = ((await readManifest(dir))?.config ?? {}) as { readonly loop?: object };
  // Of train and replay, the settings of the loop stand beside their own.
  const there = { ...(written.loop ?? written) } as Readonly<Record<string, unknown>>;
  const both = placesIn(there).filter((name) => places.includes(name));
  return { ...config, ...Object.fromEntries(both.map((name) => [name, there[name]])) };
}
