import type { Range } from '../types.ts';

/** The range from..to of `text` without the white space at its ends; empty at `to` when there is nothing else. */
export function trimmedRange(text: string, from: number, to: number): Range {
  const raw = text.slice(from, to);
  const start = from + raw.length - raw.trimStart().length;
  return { start, end: start + raw.trim().length };
}
