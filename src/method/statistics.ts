/**
 * Statistics of audit and evaluation (method.md sections 5 and 6): intervals by a seeded bootstrap that resamples whole
 * clusters (sources), because questions of one source are not independent; McNemar's exact test; Holm's correction; Wilson's
 * interval.
 */
import { groupBy } from '../util/group.ts';
import { rng } from '../util/rng.ts';

export interface Interval {
  readonly point: number;
  readonly low: number;
  readonly high: number;
}

/** A figure computed from items that count `weights[i]` times each. */
export type Statistic = (weights: ArrayLike<number>) => number;

export const weightedMean =
  (values: readonly number[]): Statistic =>
  (weights) => {
    let sum = 0;
    let total = 0;
    for (let i = 0; i < values.length; i++) {
      sum += weights[i]! * values[i]!;
      total += weights[i]!;
    }
    return total === 0 ? Number.NaN : sum / total;
  };

/** 0 of nothing. */
export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;

export interface BootstrapSettings {
  /** Names the random stream. */
  readonly key: string;
  readonly draws?: number;
  readonly level?: number;
  /** strata[i] is the stratum of item i: clusters are drawn within their stratum, so that its size stays. Default one. */
  readonly strata?: readonly string[];
}

/**
 * Percentile interval of `statistic` over resampled clusters. `clusters[i]` is the cluster of item i. Draws on which the
 * statistic has no value are left out. One cluster has no spread to resample: its interval is the point.
 */
export const bootstrap = (statistic: Statistic, clusters: readonly string[], settings: BootstrapSettings): Interval =>
  bootstrapAll((weights) => [statistic(weights)], clusters, settings)[0]!;

/** `bootstrap` of several statistics of the same items at once: one interval per value. */
export function bootstrapAll(
  statistics: (weights: ArrayLike<number>) => readonly number[],
  clusters: readonly string[],
  { key, draws = 2000, level = 0.95, strata }: BootstrapSettings,
): Interval[] {
  const index = new Map([...new Set(clusters)].map((name, c) => [name, c]));
  const at = clusters.map((name) => index.get(name)!);
  const stratumOf = new Map(at.map((c, i) => [c, strata?.[i] ?? '']));
  const pools = [...groupBy(index.values(), (c) => stratumOf.get(c)!).values()];
  const points = statistics(new Float64Array(at.length).fill(1));
  const found: number[][] = points.map(() => []);
  const counts = new Float64Array(index.size);
  const weights = new Float64Array(at.length);
  for (let draw = 0; draw < draws; draw++) {
    const random = rng('bootstrap', key, draw);
    counts.fill(0);
    for (const pool of pools) for (let c = 0; c < pool.length; c++) counts[random.pick(pool)]! += 1;
    for (let i = 0; i < at.length; i++) weights[i] = counts[at[i]!]!;
    statistics(weights).forEach((value, s) => {
      if (!Number.isNaN(value)) found[s]!.push(value);
    });
  }
  return points.map((point, s) => {
    const sorted = found[s]!.sort((a, b) => a - b);
    return { point, low: quantile(sorted, (1 - level) / 2), high: quantile(sorted, (1 + level) / 2) };
  });
}

/** Linear interpolation between order statistics (type 7). NaN for an empty sample. */
export function quantile(sorted: readonly number[], q: number): number {
  const place = (sorted.length - 1) * q;
  const below = Math.floor(place);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - below);
}

export interface McNemar {
  /** Items that only a, only b got right. */
  readonly onlyA: number;
  readonly onlyB: number;
  /** Exact, two-sided. */
  readonly p: number;
}

export function mcnemar(a: readonly boolean[], b: readonly boolean[]): McNemar {
  if (a.length !== b.length) throw new Error(`paired samples differ in length: ${a.length} and ${b.length}`);
  const onlyA = a.filter((right, i) => right && !b[i]).length;
  const onlyB = b.filter((right, i) => right && !a[i]).length;
  return { onlyA, onlyB, p: signTest(Math.min(onlyA, onlyB), onlyA + onlyB) };
}

/** Two-sided binomial test of `k ≤ n/2` successes in n fair tosses. */
function signTest(k: number, n: number): number {
  let tail = 0;
  // log C(n, i), built up term by term: C(n, i) alone overflows for n above about 1,000.
  let logChoose = 0;
  for (let i = 0; i <= k; i++) {
    tail += Math.exp(logChoose - n * Math.LN2);
    logChoose += Math.log((n - i) / (i + 1));
  }
  return Math.min(1, 2 * tail);
}

/** Holm's adjusted p values, in the order given: below α where the family as a whole errs with probability at most α. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).sort((a, b) => ps[a]! - ps[b]!);
  const adjusted = new Array<number>(ps.length);
  let floor = 0;
  order.forEach((i, rank) => {
    floor = Math.max(floor, Math.min(1, (ps.length - rank) * ps[i]!));
    adjusted[i] = floor;
  });
  return adjusted;
}

/** Wilson's 95 % interval of a share. */
export function wilson(successes: number, n: number): Interval {
  if (n === 0) return { point: Number.NaN, low: 0, high: 1 };
  const z = 1.959963984540054;
  const p = successes / n;
  const centre = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return { point: p, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** Mean and sample standard deviation (n − 1); the deviation of fewer than two values is null, the mean of none NaN. */
export function meanSd(values: readonly number[]): { readonly mean: number; readonly sd: number | null } {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  if (values.length < 2) return { mean, sd: null };
  return { mean, sd: Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1)) };
}
