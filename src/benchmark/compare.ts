/**
 * Two evaluations of the same questions, item by item (method.md section 6): differences B − A with a paired bootstrap over
 * questions, McNemar's exact test, and Holm's correction over the sets. Items that an outage took from either are in no pair.
 */
import { holm, type McNemar, mcnemar } from '../method/statistics.ts';
import { UserError } from '../util/error.ts';
import { groupBy } from '../util/group.ts';
import { type Figures, type Measurable, type Measured, measure } from './measure.ts';
import { type EvaluationResult, type Fingerprint, failed, type ItemResult } from './result.ts';
import { inTableOrder } from './seven.ts';

/** What a comparison is about; everything else has to be equal. */
const MAY_DIFFER = ['policy', 'strategy', 'seed', 'engine', 'model', 'predictions'];

export interface Difference {
  readonly key: string;
  /** Null: not stated. */
  readonly a: string | number | null;
  readonly b: string | number | null;
}

/** Every key whose values differ, those that forbid a comparison first. */
export function fingerprintDifferences(
  a: Fingerprint,
  b: Fingerprint,
): { readonly forbid: Difference[]; readonly allow: Difference[] } {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const differ = keys.flatMap((key) => (a[key] === b[key] ? [] : [{ key, a: a[key] ?? null, b: b[key] ?? null }]));
  return {
    forbid: differ.filter(({ key }) => !MAY_DIFFER.includes(key)),
    allow: differ.filter(({ key }) => MAY_DIFFER.includes(key)),
  };
}

export const DIFFERENCE_METRICS = ['em', 'coverEm', 'f1'] as const;
export type DifferenceMetric = (typeof DIFFERENCE_METRICS)[number];
export type TestedMetric = 'em' | 'coverEm';

export interface SetTest extends McNemar {
  /** Holm's adjusted p value over the sets; null for all sets together. */
  readonly adjusted: number | null;
}

export interface EvaluationComparison {
  readonly differences: ReturnType<typeof fingerprintDifferences>;
  /** Questions that both were judged on. */
  readonly pairs: number;
  /** Questions that only one of them was judged on. */
  readonly onlyA: number;
  readonly onlyB: number;
  readonly complete: { readonly a: boolean; readonly b: boolean };
  /** Means on the pairs. */
  readonly a: Measured<DifferenceMetric>;
  readonly b: Measured<DifferenceMetric>;
  /** B − A. */
  readonly difference: Measured<DifferenceMetric>;
  readonly tests: Readonly<
    Record<TestedMetric, { readonly sets: Readonly<Record<string, SetTest>>; readonly all: SetTest }>
  >;
}

/** Throws UserError when the evaluations were made in different ways (unless forced), and when no question is in both. */
export function compareEvaluations(a: EvaluationResult, b: EvaluationResult, force = false): EvaluationComparison {
  const differences = fingerprintDifferences(a.fingerprint, b.fingerprint);
  if (differences.forbid.length > 0 && !force) throw new UserError(refusal(differences.forbid));
  const [judgedA, judgedB] = [judged(a), judged(b)];
  const pairs = [...judgedA.values()].flatMap((item) => {
    const other = judgedB.get(item.id);
    return other === undefined ? [] : [{ a: item, b: other }];
  });
  for (const pair of pairs) refuseUnlike(pair.a, pair.b);
  if (pairs.length === 0)
    throw new UserError('The two evaluations have no question in common; there is nothing to compare.');
  const found = measure(pairs.map(figuresOf), SIDED, 'comparison');
  const testsOf = (metric: TestedMetric) => {
    const bySet = groupBy(pairs, (pair) => pair.a.set);
    const sets = inTableOrder(bySet.keys());
    const found = sets.map((set) => testOf(bySet.get(set)!, metric));
    const adjusted = holm(found.map(({ p }) => p));
    return {
      sets: Object.fromEntries(sets.map((set, s) => [set, { ...found[s]!, adjusted: adjusted[s]! }])),
      all: { ...testOf(pairs, metric), adjusted: null },
    };
  };
  return {
    differences,
    pairs: pairs.length,
    onlyA: judgedA.size - pairs.length,
    onlyB: judgedB.size - pairs.length,
    complete: { a: a.complete, b: b.complete },
    a: sideOf(found, 'a'),
    b: sideOf(found, 'b'),
    difference: sideOf(found, 'difference'),
    tests: { em: testsOf('em'), coverEm: testsOf('coverEm') },
  };
}

type Side = 'a' | 'b' | 'difference';
type Sided = `${Side} ${DifferenceMetric}`;
interface Pair {
  readonly a: ItemResult;
  readonly b: ItemResult;
}

/** All from the same draws. */
const SIDED = DIFFERENCE_METRICS.flatMap((m): Sided[] => [`a ${m}`, `b ${m}`, `difference ${m}`]);

const figuresOf = ({ a, b }: Pair): Measurable<Sided> => {
  const values = DIFFERENCE_METRICS.flatMap((m): [Sided, number][] => [
    [`a ${m}`, a[m]],
    [`b ${m}`, b[m]],
    [`difference ${m}`, b[m] - a[m]],
  ]);
  return { id: a.id, set: a.set, values: Object.fromEntries(values) as Record<Sided, number> };
};

function sideOf(found: Measured<Sided>, side: Side): Measured<DifferenceMetric> {
  const pick = (figures: Figures<Sided>): Figures<DifferenceMetric> => ({
    em: figures[`${side} em`],
    coverEm: figures[`${side} coverEm`],
    f1: figures[`${side} f1`],
  });
  const orNull = (figures: Figures<Sided> | null) => (figures === null ? null : pick(figures));
  return {
    sets: Object.fromEntries(
      Object.entries(found.sets).map(([set, figures]) => [set, { n: figures.n, ...pick(figures) }]),
    ),
    macro: orNull(found.macro),
    micro: orNull(found.micro),
    singleHop: orNull(found.singleHop),
    multiHop: orNull(found.multiHop),
  };
}

const judged = ({ items }: EvaluationResult): ReadonlyMap<string, ItemResult> =>
  new Map(items.filter((item) => !failed(item)).map((item) => [item.id, item]));

const testOf = (pairs: readonly Pair[], metric: TestedMetric): McNemar =>
  mcnemar(
    pairs.map(({ a }) => a[metric] === 1),
    pairs.map(({ b }) => b[metric] === 1),
  );

const shown = (value: string | number | null): string => (value === null ? 'not stated' : String(value));

const refusal = (differences: readonly Difference[]): string =>
  `The two evaluations were not made alike: ${differences
    .map(({ key, a, b }) => `${key} is ${shown(a)} in the first and ${shown(b)} in the second`)
    .join('; ')}. Compare them all the same with --force.`;

function refuseUnlike(a: ItemResult, b: ItemResult): void {
  if (a.question === b.question && a.set === b.set && a.golden.join('\n') === b.golden.join('\n')) return;
  throw new UserError(
    `${JSON.stringify(a.id)} is not the same question in both: "${a.question.slice(0, 80)}" of ${a.set} and "${b.question.slice(0, 80)}" of ${b.set}, or its gold differs.`,
  );
}
