/**
 * Postings that do not fit in memory: sorted runs on disk, merged word by word into the arrays of bm25/search. A run holds
 * passages later than those of the run before it, so the slices of one word only have to be joined.
 */
import { closeSync, fsyncSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { UserError } from '../../util/error.ts';
import type { Postings } from '../bm25/collect.ts';
import { type Bm25Settings, idfOf, impactOf } from '../bm25/settings.ts';
import { files } from './manifest.ts';
import { writeNumbers } from './raw.ts';

/** A sorted run: holders of each of its words, then all passages, then all counts. */
export interface Run {
  readonly file: string;
  readonly words: number;
  readonly postings: number;
}

export function writeRun(file: string, { start, passage, count }: Postings): Run {
  const words = start.length - 1;
  const holders = new Uint32Array(words).map((_, w) => start[w + 1]! - start[w]!);
  const fd = openSync(file, 'w');
  try {
    for (const column of [holders, passage, count]) writeNumbers(fd, column);
  } finally {
    closeSync(fd);
  }
  return { file, words, postings: passage.length };
}

export interface Merge {
  readonly dir: string;
  readonly runs: readonly Run[];
  /** Number of different words. */
  readonly words: number;
  /** Words of every passage. */
  readonly lengths: Uint32Array;
  readonly settings: Bm25Settings;
  /** Called now and then with the postings done; may throw to stop. */
  progress(done: number): void;
}

/** Writes the three arrays and deletes the runs. Returns the number of postings. */
export async function mergeRuns({ dir, runs, words, lengths, settings, progress }: Merge): Promise<number> {
  const average = lengths.reduce((sum, n) => sum + n, 0) / lengths.length;
  const total = runs.reduce((sum, run) => sum + run.postings, 0);
  if (total >= 2 ** 32)
    throw new UserError(
      `${dir}: ${total} (word, passage) pairs; an index holds at most ${2 ** 32 - 1}. Split the corpus.`,
    );
  const start = new Uint32Array(words + 1);
  const open = runs.map((run) => openRun(run));
  const passageOut = column(join(dir, files.passage), new Uint32Array(outRoom));
  const impactOut = column(join(dir, files.impact), new Float32Array(outRoom));
  const startOut = column(join(dir, files.start), start);
  try {
    let told = 0;
    for (let w = 0; w < words; w++) {
      const slices = open.map((run) => (w < run.words ? run.holders() : 0));
      const holders = slices.reduce((sum, n) => sum + n, 0);
      const idf = idfOf(lengths.length, holders);
      slices.forEach((n, r) => {
        for (let i = 0; i < n; i++) {
          const at = open[r]!.passage();
          passageOut.push(at);
          impactOut.push(impactOf(idf, open[r]!.count(), lengths[at]!, average, settings));
        }
      });
      start[w + 1] = start[w]! + holders;
      if (start[w + 1]! - told < tellEvery) continue;
      told = start[w + 1]!;
      progress(told);
      await setImmediate();
    }
    startOut.fill();
    for (const out of [passageOut, impactOut, startOut]) out.finish();
  } finally {
    for (const file of [...open, passageOut, impactOut, startOut]) file.close();
  }
  for (const { file } of runs) rmSync(file);
  return total;
}

const outRoom = 1 << 18;
const tellEvery = 1 << 20;

/** A file of numbers that is written front to back. */
function column(file: string, buffer: Uint32Array | Float32Array) {
  const fd = openSync(file, 'w');
  let n = 0;
  const flush = (): void => {
    writeNumbers(fd, buffer.subarray(0, n));
    n = 0;
  };
  return {
    push(value: number): void {
      if (n === buffer.length) flush();
      buffer[n++] = value;
    },
    /** The buffer as it is, whole. */
    fill(): void {
      n = buffer.length;
    },
    finish(): void {
      flush();
      fsyncSync(fd);
    },
    close: (): void => closeSync(fd),
  };
}

function openRun({ file, words, postings }: Run) {
  const fd = openSync(file, 'r');
  return {
    words,
    holders: cursor(fd, 0, words),
    passage: cursor(fd, 4 * words, postings),
    count: cursor(fd, 4 * (words + postings), postings),
    close: (): void => closeSync(fd),
  };
}

/** Reads `length` numbers from byte `at` on, one a call. */
function cursor(fd: number, at: number, length: number): () => number {
  const buffer = new Uint32Array(Math.min(length, 1 << 14));
  const bytes = new Uint8Array(buffer.buffer);
  let left = length;
  let i = 0;
  let n = 0;
  let position = at;
  const refill = (): void => {
    n = Math.min(buffer.length, left);
    for (let done = 0; done < 4 * n; ) {
      const read = readSync(fd, bytes, done, 4 * n - done, position + done);
      if (read === 0) throw new Error('the temporary file became shorter');
      done += read;
    }
    position += 4 * n;
    left -= n;
    i = 0;
  };
  return () => {
    if (i === n) refill();
    return buffer[i++]!;
  };
}
