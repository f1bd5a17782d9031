/**
 * The elements of a JSON array that may be larger than the longest string, one at a time: a top-level array, or the first
 * array of objects in a top-level object (TriviaQA's "Data"). Looks at brackets and quotes alone; time is linear.
 */
import { UserError } from './error.ts';

/** An element must fit in one string. */
const longest = 2 ** 28;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** All that is wrong with the array itself; its elements so far were given. */
export class ArrayFault extends UserError {
  readonly fault: 'no-array' | 'cut-short';
  constructor(fault: ArrayFault['fault'], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** A byte order mark may stand before the array. */
const MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * Throws ArrayFault when the array is cut short, or when an array at the top is looked for and something else is there, at its
 * first byte. Nothing is yielded of an object without an array of objects.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  inside: 'array' | 'object',
  path: string,
): AsyncGenerator<Buffer> {
  let depth = 0;
  let quoted = false;
  let escaped = false;
  /** Depth of what stands between the elements; 0 while the array is not found. */
  let base = 0;
  /** An array was opened at the depth looked for: the array, if an object comes first in it. */
  let maybe = false;
  let held: Buffer[] = [];
  let size = 0;
  const take = (last: Buffer): Buffer => {
    const element = Buffer.concat([...held, last]);
    held = [];
    size = 0;
    return element;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i]!;
      if (quoted) {
        if (escaped) escaped = false;
        else if (c === BACKSLASH) escaped = true;
        else if (c === QUOTE) quoted = false;
        continue;
      }
      if (c <= 32) continue;
      if (base === 0 && inside === 'array' && c !== OPEN_LIST && !MARK.includes(c)) throw noArray(path);
      if (maybe) {
        maybe = false;
        if (c === OPEN_OBJECT) {
          base = depth;
          from = i;
        }
      }
      if (c === QUOTE) quoted = true;
      else if (c === OPEN_LIST || c === OPEN_OBJECT) {
        depth++;
        if (base > 0 || c === OPEN_OBJECT) continue;
        if (inside === 'array' && depth === 1) {
          base = 1;
          from = i + 1;
        } else if (inside === 'object' && depth === 2) maybe = true;
      } else if (c === COMMA || c === CLOSE_LIST || c === CLOSE_OBJECT) {
        const between = base > 0 && depth === base;
        if (c !== COMMA) depth--;
        if (!between) continue;
        const element = take(chunk.subarray(from, i));
        from = i + 1;
        if (!blank(element)) yield element;
        if (c !== COMMA) return;
      }
    }
    if (base === 0) continue;
    held.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > longest) throw new UserError(`${path}: an element is longer than 256 MiB; write JSON Lines instead`);
  }
  if (depth > 0 || quoted) throw new ArrayFault('cut-short', `${path}: the JSON is cut short; fetch the file again`);
  if (inside === 'array') throw noArray(path);
}

const noArray = (path: string): ArrayFault => new ArrayFault('no-array', `${path}: not a JSON array`);

const blank = (bytes: Buffer): boolean => bytes.every((c) => c <= 32);
