/** JSON Lines: bytes cut into lines however they arrive, and a writer whose lines are whole or not there. */
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { diskError } from './disk.ts';
import { messageOf, UserError } from './error.ts';

/** A line must fit in one JavaScript string. */
const LONGEST_LINE = 2 ** 28;

/** Where a line is in its file, in bytes, without its newline. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

export interface Line extends Span {
  /** Counted from 1. */
  readonly number: number;
  readonly bytes: Buffer;
}

/** Cuts chunks into lines. `rest` is the last line when it lacks its newline. `file` is named in errors. */
export function lineSplitter(file: string, start = 0, firstNumber = 1) {
  let parts: Buffer[] = [];
  let held = 0;
  let at = start;
  let number = firstNumber;
  const hold = (piece: Buffer): void => {
    parts.push(piece);
    held += piece.length;
    if (held > LONGEST_LINE)
      throw new UserError(`${file}:${number}: line is longer than 256 MiB; write one JSON value a line`);
  };
  const take = (): Line => {
    const line = { number, start: at, length: held, bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts) };
    at += held + 1;
    number++;
    parts = [];
    held = 0;
    return line;
  };
  return {
    push(chunk: Buffer): Line[] {
      const lines: Line[] = [];
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        hold(chunk.subarray(from, end));
        lines.push(take());
        from = end + 1;
      }
      if (from < chunk.length) hold(chunk.subarray(from));
      return lines;
    },
    rest: (): Line | null => (held > 0 ? take() : null),
  };
}

/** The JSON value of a line; undefined for a blank one. A byte order mark and a carriage return are ignored. */
export function parseLine(line: Line, file: string): unknown {
  const where = `${file}:${line.number}`;
  if (!isUtf8(line.bytes)) throw new UserError(`${where}: not UTF-8; save the file as UTF-8`);
  const text = line.bytes.toString('utf8').trim();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(`${where}: not JSON (${messageOf(error)}); expected one JSON value a line`);
  }
}

export interface Appender {
  /** Appends a line and returns where it is. Calls are written in order; a failure takes back what it wrote. */
  append(line: string): Promise<Span>;
  read(span: Span): Promise<Buffer>;
  /** Throws what made an earlier append fail: after a failure nothing more is written. */
  check(): void;
  /** Returns when what was appended survives a power cut. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens `file` for appending, made if missing; bytes from `keep` on are cut. */
export async function openAppender(file: string, keep = Number.POSITIVE_INFINITY): Promise<Appender> {
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw diskError(file, 'write', error);
    }
  };
  const handle = await attempt(() => open(file, constants.O_RDWR | constants.O_CREAT));
  let size = await attempt(() => cutAt(handle, keep)).catch(async (error) => {
    await handle.close();
    throw error;
  });
  let failure: Error | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const check = (): void => {
    if (failure !== null) throw failure;
  };
  const write = async (line: string): Promise<Span> => {
    check();
    const bytes = Buffer.from(`${line}\n`);
    if (bytes.length > LONGEST_LINE) throw new TypeError(`${file}: a line of ${bytes.length} bytes belongs in a blob`);
    const span = { start: size, length: bytes.length - 1 };
    try {
      await attempt(() => writeAll(handle, bytes, size));
    } catch (error) {
      failure = error as Error;
      // Should this fail too, the torn line is the last one and is cut when the file is opened again.
      await handle.truncate(size).catch(() => {});
      throw error;
    }
    size += bytes.length;
    return span;
  };
  return {
    append(line) {
      const job = last.then(() => write(line));
      last = job.catch(() => {});
      return job;
    },
    read: (span) => readSpan(handle, file, span),
    check,
    sync: () => attempt(() => handle.datasync()),
    async close() {
      await last;
      failure ??= new Error(`${file}: appended to after it was closed`);
      await handle.close();
    },
  };
}

/** @throws UserError when the file ends before the span does. */
export async function readSpan(handle: FileHandle, file: string, { start, length }: Span): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, start).catch((error) => {
    throw diskError(file, 'read', error);
  });
  if (bytesRead < length)
    throw new UserError(`${file}: became shorter while it was in use; restore the folder from a copy`);
  return bytes;
}

/** Returns the size then. */
async function cutAt(handle: FileHandle, keep: number): Promise<number> {
  const { size } = await handle.stat();
  if (size > keep) await handle.truncate(keep);
  return Math.min(size, keep);
}

async function writeAll(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}
