/** How many requests to a judge a step is worth: by hand. */
import { describe, expect, it } from 'vitest';
import { scriptedPolicy, scriptedTokenizer } from '../../src/engine/scripted.ts';
import { exact } from '../../src/matcher/exact.ts';
import { judgeMatcher } from '../../src/matcher/judge.ts';
import { COMPACT_TAGS, compact } from '../../src/text/dialect/compact.ts';
import { grade } from '../../src/train/grade.ts';
import { judging } from '../../src/train/judged.ts';
import { alwaysYes, fakeJudge } from '../auditor/fake-judge.ts';

const tokenizer = scriptedTokenizer(COMPACT_TAGS);
const ANSWERS: Readonly<Record<string, readonly (string | null)[]>> = {
  // Equal to the label, twice the same alias, another answer, and none: two pairs need a judge.
  a: ['fair mere.', 'Mere', 'Mere', 'Port Ellow', null],
  // The same two answers about another question: two more.
  b: ['Mere', 'Port Ellow', 'Fair Mere', 'Fair Mere', 'Fair Mere'],
};
const env = {
  policy: scriptedPolicy('grader', tokenizer, COMPACT_TAGS, (_, { key }) => {
    const [question, attempt] = key.split('/');
    const answer = ANSWERS[question!]![Number(attempt)]!;
    return answer === null ? '<think>none' : `<think>home<answer>${answer}<end>`;
  }),
  tokenizer,
  dialect: compact,
  retriever: { fingerprint: 'none', search: async () => [] },
  topK: 1,
  limits: { turns: 1, tokensPerTurn: 40, contextLength: 1000 },
  sampling: { temperature: 1, topP: 1 },
};
const askings = ['a', 'b'].map((key) => ({
  question: `home of ${key} ?`,
  label: 'Fair Mere',
  source: key,
  hops: 1 as const,
  key,
}));

describe('requests to a judge', () => {
  it('are the distinct pairs of a step that need one, whether or not it had been asked', async () => {
    const judge = fakeJudge(alwaysYes);
    const [{ matcher }, judged] = judging({ matcher: judgeMatcher(judge, async () => {}) });
    expect(judged()).toEqual({ judged: 0, unread: 0 });
    const graded = await grade(askings, 5, env, matcher);
    expect(graded.map(({ feedback }) => feedback.matches)).toEqual([
      [true, true, true, true, false],
      [true, true, true, true, true],
    ]);
    expect([judged(), judge.asked.length]).toEqual([{ judged: 4, unread: 0 }, 4]);
    // In the same step, either way round, nothing new but one.
    await matcher.match([
      { question: 'home of a ?', a: 'Mere', b: 'Fair Mere' },
      { question: 'home of a ?', a: 'Mere', b: 'Port Ellow' },
    ]);
    expect(judged()).toEqual({ judged: 5, unread: 0 });
    const [{ matcher: later }, again] = judging({ matcher: judgeMatcher(judge, async () => {}) });
    await grade(askings, 5, env, later);
    expect([again(), judged()]).toEqual([
      { judged: 4, unread: 0 },
      { judged: 5, unread: 0 },
    ]);
  });

  it('are no field of a record where the matcher asks nobody', async () => {
    const given = { matcher: exact };
    const [context, judged] = judging(given);
    expect(context).toBe(given);
    expect(judged()).toEqual({});
  });
});
