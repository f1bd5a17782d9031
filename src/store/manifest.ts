/** run.json: what a run is. Written once; whoever continues the run must mean the same one. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../store.ts';
import { codeOf, diskError, replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { canonical, toJson } from './json.ts';

/** Layout of a run folder. A change that old code cannot read raises it. */
export const SCHEMA = 1;

export interface RunManifest {
  readonly schema: number;
  readonly recipe: string;
  /** The whole config, defaults filled in. */
  readonly config: Json;
  readonly seed: number;
  readonly codeVersion: string;
  /** What the run reads, e.g. folders of other runs. */
  readonly parents: readonly string[];
}

const fileOf = (dir: string): string => join(dir, 'run.json');

/** Null when there is none. @param elsewhere the option that names another folder */
export async function readManifest(dir: string, elsewhere = '--run'): Promise<RunManifest | null> {
  const file = fileOf(dir);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw diskError(file, 'read', error);
  }
  const damaged = (what: string) =>
    new UserError(`${file}: ${what}; restore it from a copy or use another ${elsewhere} folder`);
  let found: Partial<RunManifest> | null;
  try {
    found = JSON.parse(text);
  } catch {
    throw damaged('not JSON');
  }
  if (typeof found !== 'object' || found === null || typeof found.schema !== 'number')
    throw damaged('not a run manifest');
  if (found.schema !== SCHEMA) {
    throw damaged(`has layout ${found.schema}, but this version of crossfold reads layout ${SCHEMA}`);
  }
  for (const field of ['recipe', 'config', 'seed', 'codeVersion', 'parents'] as const) {
    if (found[field] === undefined) throw damaged(`lacks "${field}"`);
  }
  return found as RunManifest;
}

export const writeManifest = (dir: string, manifest: RunManifest): Promise<void> =>
  replaceFile(fileOf(dir), `${JSON.stringify(manifest, null, 2)}\n`);

/** A manifest as it would be read back. */
export const roundTrip = (manifest: unknown): RunManifest => JSON.parse(toJson('run.json', manifest));

/** Each field that differs, e.g. `config.solver.steps: 25 there, 50 now`. Order of object keys does not matter. */
export function differences(there: Json | undefined, now: Json | undefined, path: string): string[] {
  const fields = (x: Json | undefined) => (typeof x === 'object' && x !== null && !Array.isArray(x) ? x : null);
  const a = fields(there) as Readonly<Record<string, Json>> | null;
  const b = fields(now) as Readonly<Record<string, Json>> | null;
  if (a !== null && b !== null) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return names.flatMap((name) => differences(a[name], b[name], `${path}.${name}`));
  }
  const show = (x: Json | undefined): string => (x === undefined ? 'absent' : JSON.stringify(x));
  return canonical(there) === canonical(now) ? [] : [`${path}: ${show(there)} there, ${show(now)} now`];
}
