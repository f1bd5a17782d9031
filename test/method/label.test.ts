import { describe, expect, it } from 'vitest';
import { relation, unorderedPairs, verify } from '../../src/method/label.ts';

/** The relation of equal texts. */
const equal = (answers: readonly (string | null)[]) =>
  relation(
    answers.length,
    unorderedPairs(answers.length).map(([i, j]) => answers[i] === answers[j]),
  );
const msv = (...answers: (string | null)[]) => verify(answers, equal(answers));

describe('multi-sample verification', () => {
  it.each([
    [['a', 'a', 'a', 'a', 'a', 'a'], 'a'],
    [['x', 'a', 'a', 'a', 'y', 'a'], 'a'],
    [['a', 'b', 'c', 'a', 'a', 'a'], 'no_aware_majority'],
    [['a', 'a', 'b', 'a', 'b', 'c'], 'no_blind_majority'],
    [['a', 'a', 'b', 'b', 'b', 'a'], 'majorities_differ'],
    [[null, null, 'a', 'a', 'a', 'a'], 'no_aware_majority'],
    [[null, 'a', 'a', null, null, null], 'no_blind_majority'],
  ])('%j → %s', (answers, expected) => {
    const out = msv(...answers);
    expect(out.admitted ? out.label.answers[0] : out.reason).toBe(expected);
    if (out.admitted) expect(out.label.from).toBe('verified');
  });

  it('adopts the earliest source-aware answer of the majority in its own words', () => {
    const answers = ['Oslo', 'OSLO', 'oslo', 'oslo', 'oslo', 'oslo'];
    const out = verify(
      answers,
      relation(
        6,
        unorderedPairs(6).map(() => true),
      ),
    );
    expect(out).toEqual({ admitted: true, label: { answers: ['Oslo'], from: 'verified' } });
  });

  it('a matcher that is not transitive: the earliest answer that 2 of 3 match decides', () => {
    // 0~1 and 1~2 but not 0~2; blind answers all match each other and aware answer 1 alone.
    const matched = new Set(['0,1', '1,2', '3,4', '3,5', '4,5', '1,3']);
    const matrix = relation(
      6,
      unorderedPairs(6).map(([i, j]) => matched.has(`${i},${j}`)),
    );
    expect(verify(['u', 'v', 'w', 'x', 'y', 'z'], matrix)).toEqual({ admitted: false, reason: 'majorities_differ' });
  });

  it('relation is reflexive and symmetric, from 15 pairs of 6', () => {
    expect(unorderedPairs(6)).toHaveLength(15);
    expect(relation(2, [true])).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(relation(3, [false, true, false])).toEqual([
      [true, false, true],
      [false, true, false],
      [true, false, true],
    ]);
  });
});
