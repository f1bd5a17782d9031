/** Checks of the tokens-in, tokens-out rule: decoding and encoding again is not the identity, so it is never done. */
import type { Tokenizer } from '../engine.ts';

/** Index of the first token that would change if `ids` were decoded and encoded again; null when none would. */
export function reencodingDrift(
  tokenizer: Pick<Tokenizer, 'encode' | 'decode'>,
  ids: readonly number[],
): number | null {
  const again = tokenizer.encode([tokenizer.decode(ids)]);
  for (let i = 0; i < Math.max(ids.length, again.length); i++) if (ids[i] !== again[i]) return i;
  return null;
}

/** Does the next prompt begin with exactly the tokens of the turns before it? */
export const extendsTokens = (next: readonly number[], before: readonly number[]): boolean =>
  next.length >= before.length && before.every((id, i) => next[i] === id);

/**
 * Half-open token range that holds the characters [start, end) of a decoded text, given `ends` (Tokenizer.ends). A token
 * that holds only part of a character counts with the character it begins.
 */
export function tokenRange(ends: readonly number[], start: number, end: number): { start: number; end: number } {
  const begins = (i: number): number => (i === 0 ? 0 : ends[i - 1]!);
  let first = 0;
  while (first < ends.length && begins(first) < start && ends[first]! <= start) first++;
  let last = first;
  while (last < ends.length && begins(last) < end) last++;
  return { start: first, end: last };
}
