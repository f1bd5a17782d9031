import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeMatcher } from '../../src/matcher/judge.ts';
import { InfraError } from '../../src/util/error.ts';
import { alwaysYes, callOf, fakeJudge, goodReply } from '../auditor/fake-judge.ts';

const pair = (a: string, b: string) => ({ question: 'When?', a, b });
const answers = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('Oslo', 'oslo.', 'The Oslo', '4 May', ' ', '?'));

describe('matcher judge', () => {
  it('is reflexive without asking, symmetric even of a judge that is not, and never matches a blank answer', async () => {
    // Says yes when the first answer is the shorter one.
    const biased = judgeMatcher(
      fakeJudge((request) => {
        const call = callOf(request);
        return JSON.stringify({ same: call.kind === 'same' && call.first.length < call.second.length });
      }),
    );
    const silent = judgeMatcher(
      fakeJudge(
        () => 'x',
        () => true,
      ),
    );
    await fc.assert(
      fc.asyncProperty(answers, answers, async (a, b) => {
        expect(await silent.match([pair(a, a), pair(a, ' ')])).toEqual([a.trim() !== '', false]);
        const [ab, ba] = await biased.match([pair(a, b), pair(b, a)]);
        expect(ab).toBe(ba);
      }),
    );
  });

  it('asks about an unordered pair once, and answers in the order of the batch', async () => {
    const fake = fakeJudge(goodReply);
    const matcher = judgeMatcher(fake);
    const pairs = [
      pair('4 July 1776', 'July 4, 1776'),
      pair('Oslo', 'OSLO!'),
      pair('July 4, 1776', '4 July 1776'),
      pair('4 July 1776', '4 July 1777'),
    ];
    expect(await matcher.match(pairs)).toEqual([true, true, true, false]);
    expect(fake.asked).toHaveLength(2);
    expect(matcher.asks!(pairs)).toBe(2);
  });

  it('does not match on an unreadable verdict, and an outage is none', async () => {
    expect(await judgeMatcher(fakeJudge(() => '{"same": "yes"}')).match([pair('a b', 'c d')])).toEqual([false]);
    await expect(judgeMatcher(fakeJudge(alwaysYes, () => true)).match([pair('x y', 'z w')])).rejects.toThrow(
      InfraError,
    );
  });
});
