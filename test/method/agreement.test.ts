import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CELLS,
  cellOf,
  identityGap,
  pairsOf,
  roundMetrics,
  stepMetrics,
  warnings,
} from '../../src/method/agreement.ts';
import type { AuditPair } from '../../src/types.ts';

const pair = (code: string): AuditPair => ({
  source: 's',
  M: code[0] === '1',
  P: code[1] === '1',
  S: code[2] === '1',
});
const pairs = (...codes: string[]) => codes.map(pair);

describe('the 2×2×2 table', () => {
  it('names every cell', () => {
    expect(['111', '100', '001', '010', '000', '110', '101', '011'].map((c) => cellOf(pair(c)))).toEqual([
      ...['C', 'F', 'L', 'D', 'N'],
      ...['X1', 'X1', 'X2'],
    ]);
  });

  it('ten pairs worked by hand', () => {
    const step = stepMetrics(pairs('111', '111', '111', '100', '001', '001', '010', '010', '000', '000'), 12);
    expect(step).toEqual({
      evaluated: 12,
      judged: 10,
      coverage: 10 / 12,
      shares: { C: 0.3, F: 0.1, L: 0.2, D: 0.2, N: 0.2, X1: 0, X2: 0, TP: 0.5, TS: 0.5, A: 0.4 },
    });
    expect(identityGap(step.shares!)).toBeCloseTo(0, 12);
  });

  const anyPairs = fc.array(fc.constantFrom('111', '100', '001', '010', '000', '110', '101', '011').map(pair), {
    minLength: 1,
    maxLength: 40,
  });
  it('masses sum to 1, and the identity fails by no more than the inconsistent cells', () => {
    fc.assert(
      fc.property(anyPairs, (list) => {
        const s = stepMetrics(list, list.length).shares!;
        expect(CELLS.reduce((sum, name) => sum + s[name], 0)).toBeCloseTo(1, 12);
        expect(Math.abs(identityGap(s))).toBeLessThanOrEqual(s.X1 + s.X2 + 1e-12);
        if (s.X1 + s.X2 === 0) {
          expect(s.A).toBeCloseTo(s.C + s.F, 12);
          expect(s.TS).toBeCloseTo(s.C + s.L, 12);
          expect(s.TP).toBeCloseTo(s.C + s.D, 12);
        }
      }),
    );
  });

  it('a round is the unweighted mean of its steps; a step nobody could judge only lowers coverage', () => {
    const round = roundMetrics([
      stepMetrics(pairs('111'), 1), // F 0, A 1
      stepMetrics(pairs('100', '000', '000', '000'), 8), // F .25, A .25, coverage .5
      stepMetrics([], 5),
    ]);
    expect(round.shares).toMatchObject({ F: 0.125, A: 0.625, TP: 0.5 });
    expect(round).toMatchObject({ evaluated: 14, judged: 5, coverage: 0.5 });
    expect(roundMetrics([stepMetrics([], 5)]).shares).toBeNull();
    expect(roundMetrics([])).toMatchObject({ evaluated: 0, coverage: 0, shares: null });
  });

  it('an unresolved verdict gives no pairs', () => {
    const feedback = {
      ...{ question: 'q', source: 's', hops: 1 as const, label: 'l', grader: 'g' },
      responses: ['l', null],
      matches: [true, false],
    };
    expect(pairsOf(feedback, { resolved: false, why: 'no such sentence' })).toEqual([]);
    expect(
      pairsOf(feedback, { resolved: true, reference: 'r', labelCorrect: false, responseCorrect: [false, false] }),
    ).toEqual([
      { source: 's', M: true, P: false, S: false },
      { source: 's', M: false, P: false, S: false },
    ]);
  });
});

describe('warning', () => {
  const round = (n: number, A: number, TP: number, low: number) => ({
    round: n,
    shares: { A, TP, TS: 0.5 },
    agreement: { point: A, low: A - 0.02, high: A + 0.02 },
    excess: { point: A - 0.5, low, high: 1 },
  });
  it('agreement rises while the labels do not get better', () => {
    expect(warnings([round(1, 0.5, 0.7, -0.1), round(2, 0.6, 0.7, -0.1)])).toEqual([
      { round: 2, reason: 'agreement_rises_alone' },
    ]);
    expect(warnings([round(1, 0.5, 0.7, -0.1), round(2, 0.6, 0.8, -0.1)])).toEqual([]);
    expect(warnings([round(1, 0.5, 0.7, -0.1), round(2, 0.4, 0.6, -0.1)])).toEqual([]);
    // Gold labels cannot get better.
    expect(warnings([round(1, 0.5, 1, -0.1), round(2, 0.6, 1, -0.1)])).toEqual([]);
    expect(warnings([round(1, 0.5, 1, -0.1), round(2, 0.6, 0.99, -0.1)])).toHaveLength(1);
    // Within its interval A did not rise.
    expect(warnings([round(1, 0.5, 0.7, -0.1), round(2, 0.51, 0.6, -0.1)])).toEqual([]);
  });
  it('agreement is above accuracy by more than its interval', () => {
    expect(warnings([round(1, 0.6, 0.7, 0.02)])).toEqual([{ round: 1, reason: 'agreement_exceeds_accuracy' }]);
    expect(warnings([round(1, 0.6, 0.7, 0)])).toEqual([]);
    expect(warnings([])).toEqual([]);
  });
});
