/** Bytes of a file, unpacked when they are gzip whatever the name says. Read once: a pipe works too. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readError } from '../../retriever/corpus/open.ts';
import { codeOf } from '../../util/disk.ts';
import { UserError } from '../../util/error.ts';

export interface Opened {
  /** The beginning, at least `headSize` bytes unless the file is shorter. */
  readonly head: Buffer;
  /** `head` is the whole file. */
  readonly short: boolean;
  /** All of it, from the first byte on. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Share of the file that was read so far; null when its size is not known (a pipe). */
  readonly share: () => number | null;
}

/** Enough to see what a file is. */
const headSize = 1 << 16;
const chunkSize = 1 << 20;

export async function openBytes(path: string): Promise<Opened> {
  const file = createReadStream(path, { highWaterMark: chunkSize });
  const raw = await beginning(guarded(path, file));
  const { size } = await stat(path).catch((error) => {
    throw readError(path, error);
  });
  const share = (): number | null => (size === 0 ? null : Math.min(1, file.bytesRead / size));
  const zipped = raw.head[0] === 0x1f && raw.head[1] === 0x8b;
  if (!zipped) return { ...raw, share };
  // The callback may stay empty: pipeline hands every error on to the stream that is read here.
  const unpacked = pipeline(raw.chunks, createGunzip(), () => {});
  return { ...(await beginning(guarded(path, unpacked))), share };
}

/** A small file, as text. */
export async function readText(path: string): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of (await openBytes(path)).chunks) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
}

async function beginning(source: AsyncGenerator<Buffer>): Promise<Omit<Opened, 'share'>> {
  const held: Buffer[] = [];
  let size = 0;
  let done = false;
  while (size < headSize && !done) {
    const next = await source.next();
    if (next.done) done = true;
    else {
      held.push(next.value);
      size += next.value.length;
    }
  }
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* held;
      yield* source;
    } finally {
      // Whoever stops early lets go of the file.
      await source.return(undefined);
    }
  }
  return { head: Buffer.concat(held), short: done, chunks: chunks() };
}

async function* guarded(path: string, stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    if (codeOf(error) === 'EISDIR') throw new UserError(`${path}: is a folder; expected a file`);
    throw readError(path, error);
  }
}
