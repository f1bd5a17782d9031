/** What every matcher must hold; the rows below say what tells the implementations apart. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cover } from '../../src/matcher/cover.ts';
import { exact } from '../../src/matcher/exact.ts';
import type { Matcher } from '../../src/matcher.ts';

const one = async (matcher: Matcher, a: string, b: string): Promise<boolean> =>
  (await matcher.match([{ question: 'q', a, b }]))[0]!;

const answers = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc
    .array(fc.constantFrom('the', 'A', 'Oslo', 'oslo', 'Harbour', '?', '1921', '19', ' '), { maxLength: 4 })
    .map((w) => w.join(' ')),
);

describe.each([exact, cover])('$name', (matcher) => {
  test('is reflexive on every answer that is not blank, symmetric, and never matches a blank one', async () => {
    await fc.assert(
      fc.asyncProperty(answers, answers, async (a, b) => {
        expect(await one(matcher, a, a)).toBe(a.trim() !== '');
        expect(await one(matcher, a, b)).toBe(await one(matcher, b, a));
        expect(await one(matcher, a, '  ')).toBe(false);
      }),
    );
  });

  test('a batch is matched like its pairs, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(answers, answers), { maxLength: 5 }), async (pairs) => {
        const alone = await Promise.all(pairs.map(([a, b]) => one(matcher, a, b)));
        expect(await matcher.match(pairs.map(([a, b]) => ({ question: 'q', a, b })))).toEqual(alone);
      }),
      { numRuns: 30 },
    );
  });
});

test.each([
  ['The Oslo', 'oslo.', true, true],
  ['Oslo harbour', 'Oslo', false, true],
  ['1921', '19', false, false],
  ['?!', '?', false, false],
  ['The The', 'The', false, true],
  ['Bergen', 'Oslo', false, false],
])('%s ~ %s: exact %s, cover %s', async (a, b, isExact, isCover) => {
  expect([await one(exact, a, b), await one(cover, a, b)]).toEqual([isExact, isCover]);
});
