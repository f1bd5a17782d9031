import { describe, expect, it } from 'vitest';
import { difficulty } from '../../src/method/difficulty.ts';
import { averageLinkage, bleu, bleuWords, clusterShares } from '../../src/method/near-duplicate.ts';
import { agreementEvidence, screen } from '../../src/method/selfplay.ts';
import { answerPairs, isLabel, vote } from '../../src/method/vote.ts';

describe('screening self-written questions', () => {
  it('case c40: near-copies and siblings that give each other away', () => {
    const out = screen([
      { id: 'p1', question: 'Who designed the Halden bridge?', answer: 'Iva Brandt' },
      { id: 'p2', question: 'who designed the halden bridge ??', answer: 'Iva Brandt' },
      { id: 'p3', question: 'Which bridge did Iva Brandt design?', answer: 'Halden bridge' },
    ]);
    expect(out.kept).toEqual(['p1']);
    expect(out.dropped).toEqual([
      { id: 'p2', reason: 'duplicate_of', other: 'p1' },
      { id: 'p3', reason: 'sibling_leak_with', other: 'p1' },
    ]);
    expect(out.duplicateRate).toBeCloseTo(1 / 3, 12);
    expect(out.together).toEqual([['p1', 'p2', 'p3']]);
  });
  it('a question that merely continues from an answer is kept', () => {
    const out = screen([
      { id: 'a', question: 'Who designed the Halden bridge?', answer: 'Iva Brandt' },
      { id: 'b', question: 'Where was Iva Brandt born?', answer: 'Altenau' },
    ]);
    expect(out.kept).toEqual(['a', 'b']);
    expect(out.together).toEqual([['a'], ['b']]);
    expect(screen([]).duplicateRate).toBe(0);
  });
});

describe('agreement without evidence', () => {
  const retrieved = ['The archive is in Tartu.', 'The archive opened in 1931.'];
  it('case c42: full agreement on what no document says and nobody else finds', () => {
    expect(agreementEvidence('zxqv-17', [true, true, true], retrieved, [false, false, false])).toEqual({
      agreement: 1,
      support: 0,
      heldOut: 0,
      flag: 'unsupported_agreement',
    });
    expect(difficulty('linear', [true, true, true])).toBe(0);
  });
  it('evidence or a held-out solver that agrees clears it', () => {
    expect(agreementEvidence('Tartu', [true, true], retrieved, [false]).flag).toBeNull();
    expect(agreementEvidence('zxqv-17', [true, true], retrieved, [true, false]).flag).toBeNull();
    expect(agreementEvidence('zxqv-17', [true, false], retrieved, [false]).flag).toBeNull();
  });
});

describe('the majority as a label', () => {
  /** Answers are the same where their texts are. */
  const plain = (answers: readonly (string | null)[]) =>
    vote(
      answers,
      answerPairs(answers).map(() => false),
    );

  it('is the answer most others match; the earliest of equals', () => {
    expect(plain(['c', 'a', 'b', 'b', null, 'a'])).toEqual({
      index: 1,
      votes: 2,
      matches: [false, true, false, false, false, true],
    });
  });
  it('counts what the matcher says, which need not be transitive', () => {
    expect(answerPairs(['a', 'b', 'c', 'a'])).toEqual([
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'c'],
    ]);
    // b matches a and c, which do not match each other: b has the most votes.
    expect(vote(['a', 'b', 'c', 'a'], [true, false, true])).toMatchObject({ index: 1, votes: 4 });
  });
  it('is no label where nobody agrees, and nothing where nobody answered', () => {
    expect(plain(['a', 'b', 'c'])).toMatchObject({ index: 0, votes: 1 });
    expect(isLabel(plain(['a', 'b', 'c']))).toBe(false);
    expect(isLabel(plain(['a', null, 'a']))).toBe(true);
    expect(plain([null, null])).toBeNull();
  });
});

describe('near-duplicates', () => {
  it('joins by the average: .515 is too far, though the nearest member is at .45', () => {
    const at = (a: number, b: number, c: number) => [
      [0, a, b],
      [a, 0, c],
      [b, c, 0],
    ];
    expect(averageLinkage(at(0.2, 0.45, 0.58), 0.5)).toEqual([[0, 1], [2]]);
    // The average of .44 and .54 is .49, though the farthest member is at .54.
    expect(averageLinkage(at(0.2, 0.44, 0.54), 0.5)).toEqual([[0, 1, 2]]);
    expect(averageLinkage(at(0.5, 0.9, 0.9), 0.5)).toEqual([[0], [1], [2]]);
    expect(averageLinkage([], 0.5)).toEqual([]);
  });
  it('gives each question the share of its cluster', () => {
    expect(
      clusterShares([
        'mentor of Mara Voss ?',
        'mentor of founder of Brask Mills ?',
        'home of Mara Voss ?',
        'spouse of Tobin Hale ?',
      ]),
    ).toEqual([0.5, 0.25, 0.5, 0.25]);
    expect(clusterShares(['same', 'same'])).toEqual([1, 1]);
    expect(clusterShares([])).toEqual([]);
  });
  it('has no score without a common word, and none is lost to case', () => {
    expect(bleu(bleuWords('who ?'), bleuWords('When'))).toBe(0);
    expect(bleu([], [])).toBe(0);
    expect(bleu(bleuWords('WHO founded Brask Mills'), bleuWords('who founded brask  mills'))).toBe(1);
  });
});
