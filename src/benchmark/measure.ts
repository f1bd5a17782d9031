/**
 * Means of an exam at every level (method.md section 6): each set; macro, the mean of the set means; micro, the mean of all
 * items; the means of the single-hop and of the multi-hop set means. Intervals by a bootstrap that draws items within their
 * set, all levels from the same draws.
 */
import { bootstrapAll, type Interval } from '../method/statistics.ts';
import { inTableOrder, setNamed } from './seven.ts';

/** One item: its set and its figures. */
export interface Measurable<K extends string> {
  readonly id: string;
  readonly set: string;
  readonly values: Readonly<Record<K, number>>;
}

export type Figures<K extends string> = Readonly<Record<K, Interval>>;

export interface Measured<K extends string> {
  /** By set, in the order of the table of seven. */
  readonly sets: Readonly<Record<string, Figures<K> & { readonly n: number }>>;
  readonly macro: Figures<K> | null;
  readonly micro: Figures<K> | null;
  /** Null when no set of that kind has an item; sets outside the seven are of neither kind. */
  readonly singleHop: Figures<K> | null;
  readonly multiHop: Figures<K> | null;
}

const mostDraws = 2000;
/** Items times draws; beyond it fewer draws are made, but at least 200. */
const effort = 20_000_000;

/** @param key names the random stream. */
export function measure<K extends string>(
  items: readonly Measurable<K>[],
  names: readonly K[],
  key: string,
): Measured<K> {
  const sets = inTableOrder(items.map(({ set }) => set));
  const setOf = items.map(({ set }) => sets.indexOf(set));
  const values = items.map((item) => names.map((name) => item.values[name]));
  const kinds = sets.map((set) => setNamed(set)?.hops);
  const every = sets.map((_, s) => s);
  const groups = [every, every.filter((s) => kinds[s] === 'single'), every.filter((s) => kinds[s] === 'multi')];

  /** For each name: the sets, macro, single-hop, multi-hop, micro. */
  const levels = (weights: ArrayLike<number>): number[] => {
    const counts = new Array<number>(sets.length).fill(0);
    const sums = names.map(() => new Array<number>(sets.length).fill(0));
    for (let i = 0; i < items.length; i++) {
      const weight = weights[i]!;
      if (weight === 0) continue;
      const s = setOf[i]!;
      counts[s]! += weight;
      for (let k = 0; k < names.length; k++) sums[k]![s]! += weight * values[i]![k]!;
    }
    return sums.flatMap((sum) => {
      const means = sum.map((x, s) => x / counts[s]!);
      return [...means, ...groups.map((group) => meanOf(group.map((s) => means[s]!))), total(sum) / total(counts)];
    });
  };
  const draws = Math.round(Math.min(mostDraws, Math.max(200, effort / Math.max(1, items.length))));
  const strata = items.map(({ set }) => set);
  const found = bootstrapAll(
    levels,
    items.map(({ id }) => id),
    { key, draws, strata },
  );

  const width = sets.length + groups.length + 1;
  const figures = (level: number): Figures<K> =>
    Object.fromEntries(names.map((name, k) => [name, found[k * width + level]!])) as Record<K, Interval>;
  const group = (g: number): Figures<K> | null => (groups[g]!.length === 0 ? null : figures(sets.length + g));
  return {
    sets: Object.fromEntries(sets.map((set, s) => [set, { n: setOf.filter((at) => at === s).length, ...figures(s) }])),
    macro: group(0),
    micro: items.length === 0 ? null : figures(width - 1),
    singleHop: group(1),
    multiHop: group(2),
  };
}

const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const meanOf = (values: readonly number[]): number => total(values) / values.length;
