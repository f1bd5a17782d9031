import { describe, expect, it } from 'vitest';
import { difficulty } from '../../src/method/difficulty.ts';
import { agreementEvidence, screen } from '../../src/method/selfplay.ts';

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
