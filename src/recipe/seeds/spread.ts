/** A figure over seeds. */
import { type Interval, meanSd } from '../../method/statistics.ts';
import { MEASURES, type Measure } from '../audit/scope.ts';

export interface Spread {
  readonly mean: number;
  /** Null for one seed. */
  readonly sd: number | null;
  /** One per seed that has the figure, in the order of the seeds. */
  readonly values: readonly number[];
}

export const spreadOf = (values: readonly number[]): Spread => ({ ...meanSd(values), values });

export type MeasureSpreads = Readonly<Record<Measure, Spread>>;

export const measureSpreads = (values: (m: Measure) => readonly number[]): MeasureSpreads =>
  Object.fromEntries(MEASURES.map((m) => [m, spreadOf(values(m))])) as Record<Measure, Spread>;

/** Two-sided 5 % points of Student's t, by degrees of freedom 1 to 30; the normal one beyond. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** 95 % t interval of the mean over seeds; null for fewer than two. */
export function tInterval({ mean, sd, values }: Spread): Interval | null {
  if (sd === null) return null;
  const half = ((T[values.length - 2] ?? 1.96) * sd) / Math.sqrt(values.length);
  return { point: mean, low: mean - half, high: mean + half };
}
