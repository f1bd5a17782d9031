import { describe, expect, it } from 'vitest';
import { compareEvaluations, fingerprintDifferences } from '../../src/benchmark/compare.ts';
import { type ExamQuestion, evaluationOf, type Fingerprint, scoreItem } from '../../src/benchmark/result.ts';
import { comparisonText } from '../../src/report/evaluation/comparison.ts';
import { asMarkdown } from '../../src/report/evaluation/grid.ts';

const alike = { manifest: 'm1', corpus: 'wiki', index: 'bm25', topK: 3, turns: 5, decoding: 'greedy' };

/** `right[set]` says of each question of the set whether it is answered right; null is an outage. */
function evaluation(right: Readonly<Record<string, readonly (boolean | null)[]>>, fingerprint: Fingerprint = alike) {
  const questions: ExamQuestion[] = [];
  const items = Object.entries(right).flatMap(([set, list]) =>
    list.map((is, i) => {
      const question = { id: `${set}_${i}`, set, question: `Q${i}?`, golden: ['yes'] };
      questions.push(question);
      const stop = is === null ? ('error' as const) : ('answer' as const);
      return scoreItem(question, { prediction: is ? 'yes' : 'no', searches: 0, stop });
    }),
  );
  return evaluationOf(fingerprint, items, questions);
}

const times = (n: number, value: boolean): boolean[] => new Array<boolean>(n).fill(value);

describe('fingerprints', () => {
  it('policy, strategy and seed are what is compared; nothing else may differ', () => {
    const a = { ...alike, policy: 'p1', strategy: 'rag', seed: 1 };
    const b = { ...alike, policy: 'p2', strategy: 'search', seed: 2 };
    expect(fingerprintDifferences(a, b).forbid).toEqual([]);
    expect(fingerprintDifferences(a, b).allow.map(({ key }) => key)).toEqual(['policy', 'seed', 'strategy']);
    for (const key of Object.keys(alike)) {
      const other = { ...b, [key]: 'another' };
      expect(fingerprintDifferences(a, other).forbid).toMatchObject([{ key, b: 'another' }]);
    }
  });

  it('unlike ones are refused, saying what differs, unless forced', () => {
    const a = evaluation({ nq: [true] }, alike);
    const { decoding: _, ...rest } = alike;
    const b = evaluation({ nq: [false] }, { ...rest, topK: 5 });
    expect(() => compareEvaluations(a, b)).toThrow(
      'The two evaluations were not made alike: decoding is greedy in the first and not stated in the second; topK is 3 in the first and 5 in the second. Compare them all the same with --force.',
    );
    expect(comparisonText(compareEvaluations(a, b, true))).toContain('NOT ALIKE: topK: A 3, B 5');
  });
});

describe('comparison', () => {
  // nq: B gains 9 and loses 1 of 20. musique: B gains 5 of 10. popqa: the same.
  const a = evaluation({
    nq: [...times(9, false), true, ...times(10, true)],
    popqa: times(4, true),
    musique: [...times(5, false), ...times(5, true)],
  });
  const b = evaluation({
    nq: [...times(9, true), false, ...times(10, true)],
    popqa: times(4, true),
    musique: times(10, true),
  });
  const out = compareEvaluations(a, b);

  it('takes differences per set, macro and micro', () => {
    const { sets, macro, micro, singleHop, multiHop } = out.difference;
    expect(sets.nq!.em.point).toBeCloseTo(8 / 20, 12);
    expect(sets.popqa!.em).toEqual({ point: 0, low: 0, high: 0 });
    expect(sets.musique!.em.point).toBeCloseTo(0.5, 12);
    expect(macro!.em.point).toBeCloseTo((0.4 + 0 + 0.5) / 3, 12);
    expect(micro!.em.point).toBeCloseTo(13 / 34, 12);
    expect(singleHop!.coverEm.point).toBeCloseTo(0.2, 12);
    expect(multiHop!.f1.point).toBeCloseTo(0.5, 12);
    expect(sets.nq!.em.low).toBeGreaterThan(0);
    expect([out.a.sets.nq!.em.point, out.b.sets.nq!.em.point]).toEqual([0.55, 0.95]);
  });

  it('tests each set with McNemar, corrected by Holm over the sets', () => {
    const { sets, all } = out.tests.em;
    // 2 · (C(10,0) + C(10,1)) / 2^10 and 2 / 2^5; the third has no discordant pair.
    expect(sets.nq).toMatchObject({ onlyA: 1, onlyB: 9 });
    expect(sets.nq!.p).toBeCloseTo(22 / 1024, 12);
    expect(sets.musique!.p).toBeCloseTo(2 / 32, 12);
    expect(sets.popqa!.p).toBe(1);
    expect(sets.nq!.adjusted).toBeCloseTo(66 / 1024, 12);
    expect(sets.musique!.adjusted).toBeCloseTo(4 / 32, 12);
    expect(sets.popqa!.adjusted).toBe(1);
    expect(all).toMatchObject({ onlyA: 1, onlyB: 14, adjusted: null });
  });

  it('turns its sign with the order', () => {
    const back = compareEvaluations(b, a);
    expect(back.difference.macro!.em.point).toBeCloseTo(-out.difference.macro!.em.point, 12);
    expect(back.tests.em.sets.nq!.p).toBe(out.tests.em.sets.nq!.p);
  });

  it('an outage in either takes the pair away, and is told', () => {
    const lost = evaluation({ nq: [true, null, true, false] });
    const whole = evaluation({ nq: [false, true, true, true] });
    const partial = compareEvaluations(lost, whole);
    expect(partial).toMatchObject({ pairs: 3, onlyA: 0, onlyB: 1, complete: { a: false, b: true } });
    expect(partial.difference.micro!.em.point).toBe(0);
    expect(comparisonText(partial)).toContain('INCOMPLETE: A lacks results of some questions.');
  });

  it('refuses unlike questions under one id, and evaluations without a common question', () => {
    const other = evaluationOf(
      alike,
      [
        scoreItem(
          { id: 'nq_0', set: 'nq', question: 'Other?', golden: ['yes'] },
          { prediction: 'yes', searches: 0, stop: 'answer' },
        ),
      ],
      [{ id: 'nq_0' }],
    );
    expect(() => compareEvaluations(evaluation({ nq: [true] }), other)).toThrow(/"nq_0" is not the same question/);
    expect(() => compareEvaluations(evaluation({ nq: [true] }), evaluation({ popqa: [true] }))).toThrow(
      /no question in common/,
    );
  });

  it('is a table for people, as text and as Markdown', () => {
    const rows = comparisonText(out).split('\n');
    expect(rows[0]).toMatch(/^EM +A +B +B − A +McNemar +Holm$/);
    expect(rows[1]).toMatch(/^nq +\.550 +\.950 +\+\.400 \[\+\.\d{3}, \+\.\d{3}\] +p = \.021 \(\+9, −1\) +p = \.064$/);
    expect(rows[7]).toMatch(/^micro .* p < \.001 \(\+14, −1\) +–$/);
    expect(rows.slice(1, 8).map((row) => row.split(' ')[0])).toEqual([
      'nq',
      'popqa',
      'musique',
      'single-hop',
      'multi-hop',
      'macro',
      'micro',
    ]);
    expect(comparisonText(out, asMarkdown)).toContain('| EM | A | B | B − A | McNemar | Holm |\n| --- | ---: |');
  });
});
