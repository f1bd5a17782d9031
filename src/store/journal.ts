/** journal.jsonl: one event a line, only ever appended to. Values stay on disk; memory holds the keys. */
import { createReadStream } from 'node:fs';
import type { Event, Json } from '../store.ts';
import { codeOf, diskError } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { type Line, lineSplitter, openAppender, parseLine, type Span } from '../util/jsonl.ts';
import { toJson } from './json.ts';

export interface Place extends Span {
  /** Line number, counted from 1. */
  readonly number: number;
}

/** What the engine did since the line before, in milliseconds. */
export type Lap = Required<Pick<Event, 'wall' | 'busy'>>;

export interface Journal {
  has(key: string): boolean;
  /** The event of a key that `has`. */
  get(key: string): Promise<Event>;
  /** Appends one line; returns the value as a later reader will see it. */
  append(key: string, value: unknown, ms: number, lap?: Lap): Promise<Json>;
  /** Throws when appending would: an earlier append failed, or the journal is closed. */
  check(): void;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens for writing (one process at a time: see lock.ts). A last line without newline was being written in a crash: cut. */
export async function openJournal(file: string): Promise<Journal> {
  const index = new Map<string, Place>();
  const lines = await openAppender(file, await indexJournal(file, index));
  return {
    has: (key) => index.has(key),
    async get(key) {
      const place = index.get(key)!;
      return toEvent({ ...place, bytes: await lines.read(place) }, file);
    },
    async append(key, value, ms, lap) {
      if (index.has(key)) throw new TypeError(`${key}: already in ${file}`);
      const json = toJson(key, value);
      const at = new Date().toISOString();
      const clocks = Object.entries({ ms, ...lap }).map(([name, n]) => `"${name}":${Math.round(n)}`);
      const line = `{"key":${JSON.stringify(key)},"value":${json},"at":"${at}",${clocks.join()}}`;
      index.set(key, { ...(await lines.append(line)), number: index.size + 1 });
      return JSON.parse(json);
    },
    check: lines.check,
    sync: lines.sync,
    close: lines.close,
  };
}

/**
 * Adds the whole lines of `file` that come after those in `index`; returns where they end, in bytes. A line that is no
 * event and a key that comes twice are errors naming the line. A missing file is an empty one.
 */
export async function indexJournal(file: string, index: Map<string, Place>, from = 0): Promise<number> {
  const splitter = lineSplitter(file, from, index.size + 1);
  let end = from;
  try {
    for await (const chunk of createReadStream(file, { start: from, highWaterMark: 1 << 20 })) {
      for (const line of splitter.push(chunk)) {
        const { key } = toEvent(line, file);
        const first = index.get(key);
        if (first !== undefined) {
          throw new UserError(
            `${file}:${line.number}: key "${key}" is already on line ${first.number}; delete one of the two lines`,
          );
        }
        index.set(key, { start: line.start, length: line.length, number: line.number });
        end = line.start + line.length + 1;
      }
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (codeOf(error) !== 'ENOENT') throw diskError(file, 'read', error);
  }
  return end;
}

export function toEvent(line: Line, file: string): Event {
  const event = parseLine(line, file);
  if (!isEvent(event)) {
    throw new UserError(
      `${file}:${line.number}: not a journal line {key, value, at, ms}; restore the file from a copy`,
    );
  }
  return event;
}

function isEvent(x: unknown): x is Event {
  if (typeof x !== 'object' || x === null || !('value' in x)) return false;
  const e = x as Partial<Event>;
  return typeof e.key === 'string' && typeof e.at === 'string' && typeof e.ms === 'number';
}
