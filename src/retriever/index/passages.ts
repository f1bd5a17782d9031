/** Passages on disk, a JSON line each, with the byte where each line starts. */
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { PassageStore } from '../../retriever.ts';
import type { Passage } from '../../types.ts';
import { diskError } from '../../util/disk.ts';
import { messageOf, UserError } from '../../util/error.ts';
import { readSpan } from '../../util/jsonl.ts';
import { files } from './manifest.ts';
import { readU64 } from './raw.ts';

/** Characters gathered before they are written. */
const batch = 1 << 20;

export interface PassageWriter {
  add(passage: Passage): Promise<void>;
  /** Returns when everything survives a power cut. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export async function writePassages(dir: string): Promise<PassageWriter> {
  const lines = await open(join(dir, files.passages), 'w');
  const offsets = await open(join(dir, files.offsets), 'w');
  let text: string[] = [];
  let starts: bigint[] = [0n];
  let held = 0;
  let at = 0n;
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(text.join(''));
    const numbers = new BigUint64Array(starts);
    [text, starts, held] = [[], [], 0];
    // One call writes all: FileHandle.writeFile goes on until it has.
    await lines.writeFile(bytes);
    await offsets.writeFile(new Uint8Array(numbers.buffer));
  };
  return {
    async add({ id, source, title, text: body }) {
      const line = `${JSON.stringify({ id, source, title, text: body })}\n`;
      at += BigInt(Buffer.byteLength(line));
      text.push(line);
      starts.push(at);
      held += line.length;
      if (held > batch) await flush();
    },
    async finish() {
      await flush();
      await lines.sync();
      await offsets.sync();
    },
    async close() {
      await lines.close();
      await offsets.close();
    },
  };
}

export interface OpenPassages extends PassageStore {
  close(): Promise<void>;
}

/** @throws UserError when the files do not hold `size` passages. */
export async function openPassages(dir: string, size: number): Promise<OpenPassages> {
  const file = join(dir, files.passages);
  const offsets = await readU64(join(dir, files.offsets));
  if (offsets.length !== size + 1) throw damaged(file, `${offsets.length - 1} passages, expected ${size}`);
  const handle = await open(file).catch((error) => {
    throw diskError(file, 'read', error);
  });
  return {
    size,
    async get(places) {
      for (const at of places)
        if (!Number.isInteger(at) || at < 0 || at >= size)
          throw new RangeError(`no passage at ${at}; there are ${size}`);
      const read = await Promise.all(runsOf(places).map((run) => readRun(handle, file, offsets, run)));
      return read.flat();
    },
    close: () => handle.close(),
  };
}

interface Run {
  readonly from: number;
  readonly count: number;
}

/** Neighbours are read together. */
function runsOf(places: readonly number[]): readonly Run[] {
  const runs: Run[] = [];
  for (const at of places) {
    const last = runs.at(-1);
    if (last !== undefined && last.from + last.count === at) runs[runs.length - 1] = { ...last, count: last.count + 1 };
    else runs.push({ from: at, count: 1 });
  }
  return runs;
}

async function readRun(
  handle: FileHandle,
  file: string,
  offsets: BigUint64Array,
  { from, count }: Run,
): Promise<Passage[]> {
  const start = Number(offsets[from]);
  const bytes = await readSpan(handle, file, { start, length: Number(offsets[from + count]) - start });
  return Array.from({ length: count }, (_, i) => {
    const line = bytes.subarray(Number(offsets[from + i]) - start, Number(offsets[from + i + 1]) - start);
    try {
      return JSON.parse(line.toString()) as Passage;
    } catch (error) {
      throw damaged(file, `passage ${from + i} is not JSON, ${messageOf(error)}`);
    }
  });
}

const damaged = (file: string, why: string): UserError =>
  new UserError(`${file}: the index is damaged (${why}); copy it again or build it again`);
