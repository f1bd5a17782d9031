/** A run folder open for reading: report, show, audit, dashboard. Needs no lock and works while the run goes on. */
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs, Event, Json } from '../store.ts';
import { codeOf, diskError } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { readSpan } from '../util/jsonl.ts';
import { openBlobs } from './blob.ts';
import { indexJournal, type Place, toEvent } from './journal.ts';
import { type RunManifest, readManifest } from './manifest.ts';

export interface RunReader {
  readonly dir: string;
  readonly manifest: RunManifest;
  readonly blobs: Pick<Blobs, 'get' | 'has'>;
  /** Keys in the order they were written, as of the last `refresh`; those at or below the path `under`, if given. */
  keys(under?: string): readonly string[];
  /** Events of `keys(under)`, read one at a time. */
  events(under?: string): AsyncGenerator<Event>;
  /** The value of a key; undefined when there is none yet. */
  get(key: string): Promise<Json | undefined>;
  /** Takes in the lines written since; returns their keys. */
  refresh(): Promise<readonly string[]>;
}

export async function openReader(dir: string): Promise<RunReader> {
  const there = await stat(dir).catch(() => null);
  if (there !== null && !there.isDirectory()) throw new UserError(`${dir}: is a file; expected the folder of a run`);
  const manifest = await readManifest(dir);
  if (manifest === null) throw new UserError(`${dir}: no run here (run.json is missing); name the folder of a run`);
  const file = join(dir, 'journal.jsonl');
  const index = new Map<string, Place>();
  let end = await indexJournal(file, index);
  let refreshing: Promise<unknown> = Promise.resolve();

  const keys = (under?: string): string[] =>
    [...index.keys()].filter((key) => under === undefined || key === under || key.startsWith(`${under}/`));
  const read = async function* (wanted: readonly string[]): AsyncGenerator<Event> {
    if (wanted.length === 0) return;
    const handle = await open(file).catch((error) => {
      throw codeOf(error) === 'ENOENT'
        ? new UserError(`${file}: was deleted; restore the folder from a copy`)
        : diskError(file, 'read', error);
    });
    try {
      for (const key of wanted) {
        const place = index.get(key)!;
        yield toEvent({ ...place, bytes: await readSpan(handle, file, place) }, file);
      }
    } finally {
      await handle.close();
    }
  };
  const { get: getBlob, has: hasBlob } = openBlobs(join(dir, 'blobs'));
  return {
    dir,
    manifest,
    blobs: { get: getBlob, has: hasBlob },
    keys,
    events: (under) => read(keys(under)),
    async get(key) {
      if (!index.has(key)) return undefined;
      for await (const event of read([key])) return event.value;
      return undefined;
    },
    refresh() {
      const job = refreshing.then(async () => {
        const known = index.size;
        end = await indexJournal(file, index, end);
        return [...index.keys()].slice(known);
      });
      refreshing = job.catch(() => {});
      return job;
    },
  };
}
