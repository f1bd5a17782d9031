import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoredTokens, tokenWeights } from '../../src/method/mask.ts';
import { datum, datumBatch } from '../../src/train/datum.ts';
import type { ParsedTurn, Rollout, Turn } from '../../src/types.ts';

const parsed: ParsedTurn = {
  thinking: null,
  action: { type: 'none' },
  formatOk: true,
  violations: [],
  truncated: false,
  discardedTail: false,
  closedByStop: false,
};
const reply = (tokens: number[], over: Partial<Extract<Turn, { kind: 'reply' }>> = {}): Turn => ({
  kind: 'reply',
  tokens,
  logprobs: tokens.map((t) => -t / 100),
  finish: { reason: 'stop' },
  parsed,
  ...over,
});
const prompt: Turn = { kind: 'prompt', tokens: [10, 11] };
// Glue token 198 belongs to what the tool adds (case c29).
const search: Turn = { kind: 'search', tokens: [198, 30], queries: ['q'], passages: ['p'] };
const rollout = (...turns: Turn[]): Rollout => ({
  turns,
  stop: 'answer',
  answer: 'a',
  question: 'q',
  searches: 1,
  malformedCall: false,
});
const trajectory = [prompt, reply([20, 21, 2]), search, reply([40, 41, 42, 2], { answerTokens: { start: 1, end: 3 } })];

describe('loss mask', () => {
  it('case c29: sampled tokens only, the end token included, glue and tool tokens never', () => {
    expect(scoredTokens([prompt, reply([20, 21, 2]), search], 'solver')).toEqual([
      ...[false, false],
      ...[true, true, true],
      ...[false, false],
    ]);
  });
  it("hides the proposer's final answer and keeps the solver's", () => {
    expect(scoredTokens(trajectory, 'proposer').slice(7)).toEqual([true, false, false, true]);
    expect(scoredTokens(trajectory, 'solver').slice(7)).toEqual([true, true, true, true]);
  });
  it('case c06: a turn cut by the token limit is not scored', () => {
    const cut = reply([50, 51], { finish: { reason: 'length' } });
    expect(scoredTokens([prompt, cut], 'solver')).toEqual([false, false, false, false]);
  });
});

describe('loss normalisation', () => {
  it('worked by hand for two trajectories of 2 and 4 tokens', () => {
    expect(tokenWeights([1, -2], [2, 4], 'sequence')).toEqual([0.25, -0.25]);
    expect(tokenWeights([1, -2], [2, 4], 'token').map((w) => w * 6)).toEqual([1, -2]);
  });
  it('a trajectory without advantage counts in |E|, one without a scored token does not', () => {
    expect(tokenWeights([1, 0], [5, 5], 'sequence')).toEqual([0.1, 0]);
    expect(tokenWeights([1, 3], [5, 0], 'sequence')).toEqual([0.2, 0]);
    expect(tokenWeights([], [], 'token')).toEqual([]);
  });
  it('weights times counts add up to the mean advantage', () => {
    const items = fc.array(fc.tuple(fc.double({ min: -2, max: 2, noNaN: true }), fc.integer({ min: 1, max: 50 })), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(items, (list) => {
        const a = list.map((x) => x[0]);
        const n = list.map((x) => x[1]);
        const total = (mean: 'sequence' | 'token') =>
          tokenWeights(a, n, mean).reduce((sum, w, e) => sum + w * n[e]!, 0);
        const tokens = n.reduce((x, y) => x + y, 0);
        expect(total('sequence')).toBeCloseTo(a.reduce((x, y) => x + y, 0) / a.length, 9);
        expect(total('token')).toBeCloseTo(a.reduce((sum, x, e) => sum + x * n[e]!, 0) / tokens, 9);
      }),
    );
  });
});

describe('datum', () => {
  it('keeps the tokens and aligns advantage and log-probability to the target', () => {
    const r = rollout(...trajectory);
    const d = datum(r, scoredTokens(r.turns, 'proposer'), 0.5);
    expect(d.tokens).toEqual([10, 11, 20, 21, 2, 198, 30, 40, 41, 42, 2]);
    expect(d.advantages).toEqual([0, 0.5, 0.5, 0.5, 0, 0, 0.5, 0, 0, 0.5]);
    expect(d.logprobs).toEqual([0, -0.2, -0.21, -0.02, 0, 0, -0.4, 0, 0, -0.02]);
  });
  it('a batch leaves out what teaches nothing and still counts it', () => {
    const cut = rollout(prompt, reply([50], { finish: { reason: 'length' } }));
    const one = rollout(prompt, reply([20, 2]));
    const batch = datumBatch(
      [
        { rollout: cut, advantage: 1 },
        { rollout: one, advantage: 0 },
        { rollout: one, advantage: -1 },
      ],
      'solver',
      'sequence',
    );
    expect(batch).toMatchObject({ from: [2], trajectories: 2, tokens: 4 });
    expect(batch.data.map((d) => d.advantages)).toEqual([[0, -0.25, -0.25]]);
  });
  it('refuses a rollout whose first token would be scored, and missing log-probabilities', () => {
    const bare = rollout(reply([1, 2]));
    expect(() => datum(bare, scoredTokens(bare.turns, 'solver'), 1)).toThrow(/must start with a prompt/);
    const short = rollout(prompt, reply([1, 2], { logprobs: [0] }));
    expect(() => datum(short, scoredTokens(short.turns, 'solver'), 1)).toThrow(/4 tokens but 3/);
  });
});
