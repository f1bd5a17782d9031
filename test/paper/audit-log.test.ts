/** A log worked by hand (audit-log.jsonl beside this file): every mass, typed in. method.md section 5. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ScopeAudit } from '../../src/recipe/audit/scope.ts';
import { audited } from '../recipe/audited-log.ts';

const FILE = fileURLToPath(new URL('audit-log.jsonl', import.meta.url));
const audit = await audited(FILE);
const [log] = audit.systems;

/** C F L D N X1 X2, T_P T_S A, J E. */
const figures = ({ shares: s, judged, evaluated }: ScopeAudit): number[] =>
  [s!.C, s!.F, s!.L, s!.D, s!.N, s!.X1, s!.X2, s!.TP, s!.TS, s!.A, judged, evaluated].map((x) => Number(x.toFixed(12)));

describe('the hand-worked log', () => {
  it.each([
    //           C     F    L      D    N     X1    X2    T_P T_S    A     J  E
    [0, 0, 0.25, 0.25, 0.125, 0.25, 0.125, 0, 0, 0.5, 0.375, 0.5, 8, 10],
    [0, 1, 0.5, 0, 0.25, 0, 0.25, 0, 0, 0.5, 0.75, 0.5, 4, 4],
    [1, 0, 0.25, 0.5, 0, 0, 0, 0.125, 0.125, 0.5, 0.375, 0.875, 8, 8],
    [1, 1, 0, 0.5, 0, 0, 0.25, 0.25, 0, 0, 0.25, 0.75, 4, 6],
  ])('round %i, step %i', (round, step, ...expected) => {
    expect(figures(log!.rounds[round]!.steps[step]!.scope)).toEqual(expected);
  });

  it('averages steps, not pairs, to rounds', () => {
    const [first, second] = log!.rounds.map(({ scope }) => scope);
    expect(figures(first!)).toEqual([0.375, 0.125, 0.1875, 0.125, 0.1875, 0, 0, 0.5, 0.5625, 0.5, 12, 14]);
    expect(figures(second!)).toEqual([0.125, 0.5, 0, 0, 0.125, 0.1875, 0.0625, 0.25, 0.3125, 0.8125, 12, 14]);
    // 8/10 and 4/4; 8/8 and 4/6.
    expect(first!.coverage).toBeCloseTo(0.9, 12);
    expect(second!.coverage).toBeCloseTo(5 / 6, 12);
    expect(audit.unresolved).toEqual({ 'no reference, and no verdict on the label': 2 });
  });

  it('gives the same by hop count', () => {
    const [one, two, three, four] = log!.byHops.map(({ scope }) => scope);
    expect(log!.byHops.map(({ hops }) => hops)).toEqual([1, 2, 3, 4]);
    // Three of its four steps have judged pairs: C ½, 1, ½; D ½ in the first, X1 and X2 ¼ in the third.
    expect(one!.shares).toMatchObject({ F: 0, L: 0, N: 0, TP: 1 });
    expect(one!.shares!.C).toBeCloseTo(2 / 3, 12);
    expect(one!.shares!.D).toBeCloseTo(1 / 6, 12);
    expect(one!.shares!.X1).toBeCloseTo(1 / 12, 12);
    expect(one!.coverage).toBeCloseTo((4 / 6 + 1 + 1 + 0) / 4, 12);
    expect(two!.shares).toMatchObject({ F: 0.75, L: 0.125, N: 0.125, TP: 0, TS: 0.125, A: 0.75 });
    expect(three!.shares).toMatchObject({ L: 0.5, N: 0.5, A: 0 });
    expect(four!.shares).toMatchObject({ F: 0.5, X1: 0.25, N: 0.25 });
  });

  it('names the sources and questions that carry F', () => {
    expect(log!.bySource.map(({ source, falsePairs }) => [source, falsePairs])).toEqual([
      ['b', 6],
      ['e', 2],
    ]);
    expect(
      audit.falseAgreements.map(({ question, label, reference, agreeing, responses, times, key }) => [
        ...[question, label, reference, agreeing, responses, times, key],
      ]),
    ).toEqual([
      ['When did it open?', '1921', '1912', 4, 4, 2, 'round 2, step 1'],
      ['What replaced it?', 'tram', 'bus', 2, 4, 1, 'round 2, step 2'],
    ]);
  });

  it('warns: A rose from .5 to .8125 while T_P fell', () => {
    expect(log!.warnings).toEqual([{ round: 1, reason: 'agreement_rises_alone' }]);
  });
});
