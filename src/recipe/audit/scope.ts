/**
 * Audit of a set of steps (method.md section 5): the unweighted mean of the step metrics, with 95 % intervals of
 * a bootstrap that resamples sources. A source keeps all its questions of all steps when it is drawn.
 */
import { cellOf, type Metrics, roundMetrics, stepMetrics } from '../../method/agreement.ts';
import { bootstrapAll, type Interval } from '../../method/statistics.ts';
import type { AuditPair, Feedback } from '../../types.ts';
import type { Graded, StepOf } from './judge.ts';

/** `excess` is A − T_S. */
export const MEASURES = ['TP', 'TS', 'A', 'F', 'L', 'excess'] as const;
export type Measure = (typeof MEASURES)[number];
export type Intervals = Readonly<Record<Measure, Interval>>;

export interface ScopeAudit extends Metrics {
  readonly steps: number;
  readonly questions: number;
  /** Null when nothing could be judged. */
  readonly intervals: Intervals | null;
}

/** A measure of an audit; null when nothing could be judged. */
export const measureOf = ({ shares }: ScopeAudit, m: Measure): number | null =>
  shares === null ? null : m === 'excess' ? shares.A - shares.TS : shares[m];

const everything = (): boolean => true;

/** `key` names the random stream. A step without a response that `keep` keeps is no part of the mean. */
export function auditScope<F extends Graded = Feedback>(
  steps: readonly StepOf<F>[],
  key: string,
  keep: (feedback: F) => boolean = everything,
): ScopeAudit {
  const kept = steps.flatMap(({ questions }) => {
    const own = questions.filter(({ feedback }) => keep(feedback));
    return own.some(({ feedback }) => feedback.matches.length > 0) ? [own] : [];
  });
  const metrics = roundMetrics(
    kept.map((own) =>
      stepMetrics(
        own.flatMap(({ pairs }) => pairs),
        own.reduce((sum, { feedback }) => sum + feedback.matches.length, 0),
      ),
    ),
  );
  const pairs = kept.map((own) => own.flatMap((question) => question.pairs));
  const sources = sourcesOf(pairs);
  return {
    ...metrics,
    steps: kept.length,
    questions: kept.reduce((sum, own) => sum + own.length, 0),
    intervals: metrics.shares === null ? null : named(bootstrapAll(stepMeans(pairs, sources), sources, { key })),
  };
}

/** b − a of two sets of steps on one pool of sources, which are resampled for both together. */
export function contrastScopes<F extends Graded = Feedback>(
  a: readonly StepOf<F>[],
  b: readonly StepOf<F>[],
  key: string,
): Intervals | null {
  const [pairsA, pairsB] = [a, b].map((steps) => steps.map((step) => step.questions.flatMap(({ pairs }) => pairs)));
  const sources = sourcesOf([...pairsA!, ...pairsB!]);
  const [ofA, ofB] = [stepMeans(pairsA!, sources), stepMeans(pairsB!, sources)];
  if (pairsA!.flat().length === 0 || pairsB!.flat().length === 0) return null;
  const difference = (weights: ArrayLike<number>): number[] => {
    const before = ofA(weights);
    return ofB(weights).map((value, m) => value - before[m]!);
  };
  return named(bootstrapAll(difference, sources, { key }));
}

const named = (intervals: readonly Interval[]): Intervals =>
  Object.fromEntries(MEASURES.map((measure, m) => [measure, intervals[m]!])) as unknown as Intervals;

const sourcesOf = (pairs: readonly (readonly AuditPair[])[]): string[] => [
  ...new Set(pairs.flatMap((own) => own.map(({ source }) => source))),
];

/** Over the places of `values`. */
function dot(weights: Float64Array, values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += weights[i]! * values[i]!;
  return sum;
}

/** The measures as a function of how often each source counts. Pairs are summed by (step, source) once, not per draw. */
function stepMeans(steps: readonly (readonly AuditPair[])[], sources: readonly string[]) {
  const index = new Map(sources.map((source, s) => [source, s]));
  const columns = steps.map((pairs) => {
    const sums = new Map<number, number[]>();
    for (const pair of pairs) {
      const s = index.get(pair.source)!;
      const cell = cellOf(pair);
      const add = [1, pair.P, pair.S, pair.M, cell === 'F', cell === 'L', 0].map(Number);
      add[6] = add[3]! - add[2]!;
      const held = sums.get(s);
      if (held)
        add.forEach((x, m) => {
          held[m]! += x;
        });
      else sums.set(s, add);
    }
    const rows = [...sums.values()];
    const column = (_: unknown, m: number) => Float64Array.from(rows, (row) => row[m]!);
    // Pairs, then the measures.
    return { at: Int32Array.from(sums.keys()), sums: Array.from({ length: MEASURES.length + 1 }, column) };
  });
  const drawn = new Float64Array(Math.max(0, ...columns.map(({ at }) => at.length)));
  return (weights: ArrayLike<number>): number[] => {
    const totals = MEASURES.map(() => 0);
    let counted = 0;
    for (const { at, sums } of columns) {
      for (let i = 0; i < at.length; i++) drawn[i] = weights[at[i]!]!;
      const pairs = dot(drawn, sums[0]!);
      if (pairs === 0) continue;
      counted++;
      for (let m = 0; m < totals.length; m++) totals[m]! += dot(drawn, sums[m + 1]!) / pairs;
    }
    return totals.map((total) => total / counted);
  };
}
