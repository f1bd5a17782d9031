/** Bytes of a corpus file, plain or gzip, in lines or whole. Streams: a file may be far larger than the longest string. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InfraError, messageOf, UserError } from '../../util/error.ts';

/** Largest single document, or line, in bytes: it has to fit in one string. */
const largest = 256 * 1024 * 1024;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its line feed. */
  readonly bytes: Buffer;
}

export async function* readLines(path: string): AsyncGenerator<Line> {
  let number = 1;
  let size = 0;
  let pending: Buffer[] = [];
  for await (const chunk of readBytes(path)) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const tail = chunk.subarray(from, end);
      yield { number: number++, bytes: pending.length === 0 ? tail : Buffer.concat([...pending, tail]) };
      pending = [];
      size = 0;
      from = end + 1;
    }
    if (from === chunk.length) continue;
    pending.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > largest) throw tooLarge(`${path}:${number}`, 'line', 'Write one JSON object a line');
  }
  if (size > 0) yield { number, bytes: Buffer.concat(pending) };
}

export async function readWhole(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readBytes(path)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > largest) throw tooLarge(path, 'document', 'Split it, or write JSON Lines with one document a line');
  }
  return Buffer.concat(chunks);
}

async function* readBytes(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 1 << 20 });
  try {
    // The callback may stay empty: pipeline hands every error on to the stream that is read here.
    yield* path.toLowerCase().endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file;
  } catch (error) {
    throw readError(path, error);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  ENOTDIR: 'a part of the path is not a folder',
  ELOOP: 'its symbolic links go in a circle',
  Z_DATA_ERROR: 'it is not gzip, or damaged; unpack it, or fetch it again',
  Z_BUF_ERROR: 'the gzip file is cut short; fetch it again',
};

/** What the user is told when `path` cannot be read; an InfraError where the disk is to blame. */
export function readError(path: string, error: unknown): UserError | InfraError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = reasons[code];
  return reason === undefined
    ? new InfraError(`Cannot read ${path}: ${messageOf(error)}`, { cause: error })
    : new UserError(`Cannot read ${path}: ${reason}.`, { cause: error });
}

const tooLarge = (where: string, what: string, advice: string): UserError =>
  new UserError(`${where}: the ${what} is longer than ${largest / 1024 / 1024} MiB. ${advice}.`);
