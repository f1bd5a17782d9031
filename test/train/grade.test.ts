import { describe, expect, it } from 'vitest';
import { scriptedPolicy, scriptedTokenizer } from '../../src/engine/scripted.ts';
import { exact } from '../../src/matcher/exact.ts';
import type { Environment } from '../../src/rollout/converse.ts';
import { COMPACT_TAGS, compact } from '../../src/text/dialect/compact.ts';
import { agreementOf, grade } from '../../src/train/grade.ts';
import { warmRate } from '../../src/train/trainee.ts';
import { InfraError } from '../../src/util/error.ts';

const tokenizer = scriptedTokenizer(COMPACT_TAGS);
const asking = (key: string) => ({
  question: `home of ${key} ?`,
  label: 'Fair Mere',
  source: key,
  hops: 1 as const,
  key,
});

/** `replies[key]` are the first turns of the attempts at that question; any search meets an outage. */
const environment = (replies: Readonly<Record<string, readonly string[]>>): Environment => ({
  policy: scriptedPolicy('grader', tokenizer, COMPACT_TAGS, (_, { key }) => {
    const [question, attempt] = key.split('/');
    return replies[question!]![Number(attempt)]!;
  }),
  tokenizer,
  dialect: compact,
  retriever: {
    fingerprint: 'down',
    search: async () => {
      throw new InfraError('the search server is down');
    },
  },
  topK: 2,
  limits: { turns: 1, tokensPerTurn: 40, contextLength: 1000 },
  sampling: { temperature: 1, topP: 1 },
});
const answer = (name: string): string => `<think>home<answer>${name}<end>`;

describe('grading', () => {
  it('pays for a match, and for nothing that is no answer', async () => {
    const graded = await grade(
      [asking('a'), asking('b')],
      3,
      environment({
        a: [answer('fair mere.'), 'Fair Mere', answer('Port Ellow')],
        b: [answer(''), '', answer('Fair Mere')],
      }),
      exact,
    );
    expect(graded.map(({ feedback }) => feedback.responses)).toEqual([
      ['fair mere.', null, 'Port Ellow'],
      [null, null, 'Fair Mere'],
    ]);
    expect(graded.map(({ feedback }) => feedback.matches)).toEqual([
      [true, false, false],
      [false, false, true],
    ]);
    expect(graded[0]!.feedback).toMatchObject({ grader: 'grader', source: 'a', label: 'Fair Mere' });
    expect(agreementOf(graded)).toBe(2 / 6);
  });

  it('leaves an outage out of responses and matches, and counts it', async () => {
    const env = environment({ a: [answer('Fair Mere'), '<think>home<search>a<end>', answer('Port Ellow')] });
    const [graded] = await grade([asking('a')], 3, { ...env, limits: { ...env.limits, turns: 2 } }, exact);
    expect(graded!.feedback.matches).toEqual([true, false]);
    expect(graded!.failed).toBe(1);
    expect(graded!.rollouts.length).toBe(2);
  });
});

describe('warm-up', () => {
  it('is linear and ends at the peak', () => {
    expect([0, 1, 2, 3, 9].map((step) => warmRate(3, step, 3))).toEqual([1, 2, 3, 3, 3]);
    expect(warmRate(3, 0, 0)).toBe(3);
  });
});
