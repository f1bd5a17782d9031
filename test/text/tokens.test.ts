import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeChunks } from '../../src/text/stream.ts';
import { extendsTokens, tokenRange } from '../../src/text/tokens.ts';

test.each([
  // "ab" "cd" "ef": characters [2, 4) are the middle token; [1, 3) touch two.
  [[2, 4, 6], 2, 4, { start: 1, end: 2 }],
  [[2, 4, 6], 1, 3, { start: 0, end: 2 }],
  [[2, 4, 6], 0, 6, { start: 0, end: 3 }],
  // A character in two tokens, of which the first adds nothing yet.
  [[1, 1, 3, 4], 1, 3, { start: 1, end: 3 }],
  [[0, 2], 0, 2, { start: 0, end: 2 }],
  [[], 0, 0, { start: 0, end: 0 }],
])('tokens that end at %j hold [%i, %i) in %j', (ends, start, end, expected) => {
  expect(tokenRange(ends, start, end)).toEqual(expected);
});

test('a token range covers its characters and no token that lies outside', () => {
  const widths = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });
  fc.assert(
    fc.property(widths, fc.nat(30), fc.nat(30), (sizes, a, b) => {
      const ends = sizes.map((_, i) => sizes.slice(0, i + 1).reduce((x, y) => x + y, 0));
      const total = ends.at(-1) ?? 0;
      const [start, end] = [Math.min(a, b, total), Math.min(Math.max(a, b), total)];
      if (start === end) return;
      const range = tokenRange(ends, start, end);
      const begins = (i: number): number => (i === 0 ? 0 : ends[i - 1]!);
      expect(begins(range.start)).toBeLessThanOrEqual(start);
      expect(ends[range.end - 1]).toBeGreaterThanOrEqual(end);
      expect(ends[range.start]! > start || begins(range.start) >= start).toBe(true);
      expect(begins(range.end - 1)).toBeLessThan(end);
    }),
  );
});

test('the next prompt extends the tokens before it, glue included', () => {
  expect(extendsTokens([1, 2, 3], [1, 2])).toBe(true);
  expect(extendsTokens([1, 2], [1, 2])).toBe(true);
  expect(extendsTokens([1, 3, 2], [1, 2])).toBe(false);
  expect(extendsTokens([1], [1, 2])).toBe(false);
});

test('bytes decode the same however they are cut', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(120), { maxLength: 6 }), (original, cuts) => {
      const bytes = new TextEncoder().encode(original);
      const at = [0, ...cuts.filter((c) => c < bytes.length).sort((x, y) => x - y), bytes.length];
      expect(decodeChunks(at.slice(1).map((to, i) => bytes.slice(at[i], to)))).toBe(original);
    }),
  );
});
