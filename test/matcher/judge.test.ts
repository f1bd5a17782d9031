import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../src/chat.ts';
import { judgeMatcher } from '../../src/matcher/judge.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { alwaysYes, callOf, fakeJudge, goodReply } from '../auditor/fake-judge.ts';

const fine = async (): Promise<void> => {};
const YES = '{"same": true}';
const prompt = ({ messages }: ChatRequest): string => messages[1]!.content;
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
      fine,
    );
    const silent = judgeMatcher(
      fakeJudge(
        () => 'x',
        () => true,
      ),
      fine,
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
    const matcher = judgeMatcher(fake, fine);
    const pairs = [
      pair('4 July 1776', 'July 4, 1776'),
      pair('Oslo', 'OSLO!'),
      pair('July 4, 1776', '4 July 1776'),
      pair('4 July 1776', '4 July 1777'),
    ];
    expect(await matcher.match(pairs)).toEqual([true, true, true, false]);
    expect(fake.asked).toHaveLength(2);
    expect(matcher.asked!(pairs)).toEqual({ judged: 2, unread: 0 });
  });

  it('leaves open what it gives no readable verdict on, which is counted, and an outage is none', async () => {
    const matcher = judgeMatcher(
      fakeJudge((request) => (/c d/.test(prompt(request)) ? '{"same": "yes"}' : YES)),
      fine,
    );
    const pairs = [pair('a b', 'c d'), pair('a b', 'e f'), pair('c d', 'a b')];
    expect(await matcher.match(pairs)).toEqual([null, true, null]);
    expect(matcher.asked!(pairs)).toEqual({ judged: 2, unread: 1 });
    expect(matcher.asked!([pairs[1]!])).toEqual({ judged: 1, unread: 0 });
    await expect(
      judgeMatcher(
        fakeJudge(alwaysYes, () => true),
        fine,
      ).match([pair('x y', 'z w')]),
    ).rejects.toThrow(InfraError);
  });

  it('is tested again when it gives no readable verdict: one that fails is away', async () => {
    let tests = 0;
    const fake = fakeJudge((request) => (/c d/.test(prompt(request)) ? '<b>busy</b>' : YES));
    const failing = judgeMatcher(fake, async () => {
      tests++;
      throw new UserError('judge fake fails its self-test.');
    });
    expect(await failing.match([pair('a b', 'e f')])).toEqual([true]);
    expect(tests).toBe(0);
    await expect(failing.match([pair('a b', 'c d')])).rejects.toThrow(
      new InfraError(
        'judge fake gives no readable verdicts any more: judge fake fails its self-test. Nothing was made of them; the same command goes on from there.',
      ),
    );
    expect(failing.asked!([pair('a b', 'c d')])).toEqual({ judged: 1, unread: 0 });
  });

  it('is away when it leaves most of ten pairs open, though its self-test passes', async () => {
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => pair('x', `n${from + i}`));
    const matcher = judgeMatcher(
      fakeJudge((request) => (/"n[0-4]"/.test(prompt(request)) ? YES : '{"same": true} or {"same": false}')),
      fine,
    );
    // Half of ten are open, which is not most.
    expect(await matcher.match(numbered(0, 10))).toEqual([...Array(5).fill(true), ...Array(5).fill(null)]);
    await expect(matcher.match(numbered(10, 11))).rejects.toThrow(
      /judge fake gave no readable verdict on 6 of 11 pairs; .*the same command goes on from there/,
    );
  });
});
