/** A run folder open for writing: run.json, journal.jsonl, blobs/, lock. Running the same command again continues it. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs, Json, Scope } from '../store.ts';
import { diskError, exists, makeFolder } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { openBlobs, UNFINISHED } from './blob.ts';
import { type Journal, type Lap, openJournal } from './journal.ts';
import { acquireLock } from './lock.ts';
import { differences, type RunManifest, readManifest, roundTrip, SCHEMA, writeManifest } from './manifest.ts';

export interface RunSpec {
  readonly recipe: string;
  /** Resolved config: JSON with every default filled in. */
  readonly config: unknown;
  readonly seed: number;
  readonly codeVersion: string;
  readonly parents: readonly string[];
}

/** The root scope of a run. */
export interface Run extends Scope {
  readonly dir: string;
  readonly manifest: RunManifest;
  /** Things to tell the user that do not stop the run. */
  readonly warnings: readonly string[];
  /** From now on a line tells how long the engine worked since the line before. @param busy milliseconds so far */
  watch(busy: (() => number) | undefined): void;
  /** Waits for lines being written and gives the lock back. */
  close(): Promise<void>;
}

/**
 * Starts the run in `dir` or continues the one that is there. UserError: another process writes here, or the run there
 * differs in recipe, config, seed or parents. InfraError: the folder cannot be written.
 * @param elsewhere the option that names another folder
 */
export async function openRun(dir: string, spec: RunSpec, elsewhere = '--run'): Promise<Run> {
  await makeFolder(dir);
  const release = acquireLock(join(dir, 'lock'), elsewhere);
  try {
    const { manifest, warnings } = await settleManifest(dir, spec, elsewhere);
    const folder = join(dir, 'blobs');
    await rm(join(folder, UNFINISHED), { recursive: true, force: true }).catch((error) => {
      throw diskError(folder, 'write', error);
    });
    const journal = await openJournal(join(dir, 'journal.jsonl'));
    const laps = openLaps();
    const root = scopeOf({ journal, laps, running: new Map() }, openBlobs(folder, journal.sync), '');
    const close = async (): Promise<void> => {
      try {
        await journal.close();
      } finally {
        release();
      }
    };
    return { ...root, dir, manifest, warnings, watch: laps.watch, close };
  } catch (error) {
    release();
    throw error;
  }
}

/** A run starts in a folder of its own: what is there already is somebody's. */
async function refuseForeign(dir: string, elsewhere: string): Promise<void> {
  const ours = ['lock', 'blobs', 'run.json.unfinished'];
  const others = (await readdir(dir)).filter((name) => !ours.some((own) => name.startsWith(own)));
  if (others.length > 0) {
    throw new UserError(
      `${dir}: has files that are not a run's (${others.slice(0, 3).join(', ')}); use a new ${elsewhere} folder`,
    );
  }
}

async function settleManifest(
  dir: string,
  spec: RunSpec,
  elsewhere: string,
): Promise<{ manifest: RunManifest; warnings: string[] }> {
  const wanted = roundTrip({ schema: SCHEMA, ...spec });
  const found = await readManifest(dir, elsewhere);
  if (found === null) {
    if (await exists(join(dir, 'journal.jsonl')))
      throw new UserError(`${dir}: has a journal but no run.json; restore it or use another ${elsewhere} folder`);
    await refuseForeign(dir, elsewhere);
    await writeManifest(dir, wanted);
    return { manifest: wanted, warnings: [] };
  }
  const differing = (['recipe', 'seed', 'config', 'parents'] as const).flatMap((field) =>
    differences(found[field], wanted[field], field),
  );
  if (differing.length > 0) {
    throw new UserError(`${dir} holds another run (${differing.join('; ')}); use another ${elsewhere} folder`);
  }
  const warnings =
    found.codeVersion === wanted.codeVersion
      ? []
      : [`${dir} was started by version ${found.codeVersion} and is continued by ${wanted.codeVersion}`];
  return { manifest: found, warnings };
}

/** Time and engine work between lines. */
function openLaps() {
  let last: (Lap & { readonly read: () => number }) | null = null;
  const now = (read: () => number) => ({ read, wall: performance.now(), busy: read() });
  return {
    watch(read: (() => number) | undefined): void {
      last = read === undefined ? null : now(read);
    },
    lap(): Lap | undefined {
      if (last === null) return undefined;
      const [before, next] = [last, now(last.read)];
      last = next;
      return { wall: next.wall - before.wall, busy: next.busy - before.busy };
    },
  };
}

interface Writing {
  readonly journal: Journal;
  readonly laps: ReturnType<typeof openLaps>;
  readonly running: Map<string, Promise<Json>>;
}

function scopeOf(writing: Writing, blobs: Blobs, prefix: string): Scope {
  const { journal, laps, running } = writing;
  const compute = async (key: string, work: () => Promise<unknown>, after?: Promise<unknown>): Promise<Json> => {
    // Before the work, not after: what cannot be written is not worth computing.
    journal.check();
    const begin = performance.now();
    const value = await work();
    const ms = performance.now() - begin;
    await after;
    return journal.append(key, value, ms, laps.lap());
  };
  return {
    blobs,
    scope: (name) => scopeOf(writing, blobs, `${pathOf(prefix, name)}/`),
    async once<T>(name: string, work: () => Promise<T>, after?: Promise<unknown>): Promise<T> {
      const key = pathOf(prefix, name);
      let shared = running.get(key);
      if (shared === undefined) {
        // Stays in `running` until its line is written, so `has` never sees a half-written key.
        if (journal.has(key)) return (await journal.get(key)).value as T;
        shared = compute(key, work, after).finally(() => running.delete(key));
        running.set(key, shared);
      }
      return shared as Promise<T>;
    },
  };
}

function pathOf(prefix: string, name: string): string {
  if (name === '' || name.startsWith('/') || name.endsWith('/')) {
    throw new TypeError(`"${prefix}${name}": a key is non-empty names joined by single slashes`);
  }
  return prefix + name;
}
