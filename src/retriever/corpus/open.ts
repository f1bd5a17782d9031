/** Bytes of a corpus file, plain or gzip, in lines or whole. Streams: a file may be far larger than the longest string. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf } from '../../util/disk.ts';
import { InfraError, messageOf, UserError } from '../../util/error.ts';
import { type Line, lineSplitter } from '../../util/jsonl.ts';
import type { CorpusReport } from './report.ts';

/** Largest single document in bytes: it has to fit in one string. */
export const largest = 256 * 1024 * 1024;

/** Counts the bytes read. */
export type Tally = Pick<CorpusReport, 'bytes'>;

export async function* readLines(path: string, tally: Tally): AsyncGenerator<Line> {
  const splitter = lineSplitter(path);
  for await (const chunk of readBytes(path, tally)) yield* splitter.push(chunk);
  const rest = splitter.rest();
  if (rest !== null) yield rest;
}

export async function readWhole(path: string, tally: Tally): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readBytes(path, tally)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > largest)
      throw new UserError(
        `${path}: the document is longer than ${largest / 1024 / 1024} MiB. Split it, or write JSON Lines with one document a line.`,
      );
  }
  return Buffer.concat(chunks);
}

export async function* readBytes(path: string, tally: Tally): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 1 << 20 });
  const { bytes } = tally;
  try {
    // The callback may stay empty: pipeline hands every error on to the stream that is read here.
    const stream = path.toLowerCase().endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file;
    for await (const chunk of stream) {
      tally.bytes = bytes + file.bytesRead;
      yield chunk;
    }
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

/** Why a path cannot be read, where the path and not the disk is to blame; else undefined. */
export const reasonOf = (error: unknown): string | undefined => reasons[codeOf(error)];

/** What the user is told when `path` cannot be read; an InfraError where the disk is to blame. */
export function readError(path: string, error: unknown): UserError | InfraError {
  if (error instanceof UserError || error instanceof InfraError) return error;
  const reason = reasonOf(error);
  return reason === undefined
    ? new InfraError(`Cannot read ${path}: ${messageOf(error)}`, { cause: error })
    : new UserError(`Cannot read ${path}: ${reason}.`, { cause: error });
}
