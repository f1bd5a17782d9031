/** Worked numbers of SQLM* and R-Zero* (method.md section 7). */
import { describe, expect, it, test } from 'vitest';
import { bleu, bleuWords } from '../../src/method/near-duplicate.ts';
import { challengerReward, R_ZERO, refusal } from '../../src/method/r-zero.ts';
import { askingReward, proposerLearns } from '../../src/method/sqlm.ts';

describe('SQLM*', () => {
  test.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 1],
    [5, 0],
  ])('a majority of %i among 5 answers pays the proposer %i', (votes, reward) => {
    expect(askingReward(votes, 5)).toBe(reward);
  });
  it('updates the proposer in every fifth step', () => {
    expect(Array.from({ length: 12 }, (_, step) => step).filter(proposerLearns)).toEqual([4, 9]);
  });
});

describe('R-Zero*', () => {
  test.each([
    // votes of 10, share of the cluster, reward
    [5, 0.125, 0.875],
    [3, 0.125, 0.475],
    [8, 0.125, 0.275],
    [9, 0.5, 0],
    [10, 0, 0],
    [0, 0, 0],
  ])('%i of 10 answers agree, cluster %f: reward %f', (votes, cluster, reward) => {
    expect(challengerReward(votes / R_ZERO.answers, cluster)).toBeCloseTo(reward, 12);
  });
  it('keeps .3 ≤ p ≤ .8', () => {
    expect(Array.from({ length: 11 }, (_, votes) => votes).filter((votes) => refusal(votes / 10) === null)).toEqual([
      3, 4, 5, 6, 7, 8,
    ]);
    expect([refusal(0.2), refusal(0.9)]).toEqual(['too_uncertain', 'too_certain']);
  });
  it('BLEU-4 of two questions about one person: (4/5 · 3/4 · 2/3 · 1/2)^¼', () => {
    const [a, b] = ['mentor of Mara Voss ?', 'home of Mara Voss ?'].map(bleuWords);
    expect(bleu(a!, b!)).toBeCloseTo(0.66874, 5);
  });
  it('BLEU-4 of a short candidate: a count of 0 is .1, and the brevity penalty exp(1 − 7/5)', () => {
    const [short, long] = ['mentor of Mara Voss ?', 'mentor of founder of Brask Mills ?'].map(bleuWords);
    // (3/5 · 1/4 · .1/3 · .1/2)^¼ · e^−.4, and the other way round (3/7 · 1/6 · .1/5 · .1/4)^¼.
    expect(bleu(short!, long!)).toBeCloseTo(0.084288, 5);
    expect(bleu(long!, short!)).toBeCloseTo(0.077306, 5);
  });
});
