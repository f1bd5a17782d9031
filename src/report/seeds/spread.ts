/** A figure over seeds as text. */
import type { SeedsReport } from '../../recipe/seeds/report.ts';
import type { Spread } from '../../recipe/seeds/spread.ts';
import { count, DASH, share } from '../format.ts';

type Format = (x: number) => string;

/** .035 ± .004; a single seed has no deviation. */
export const spreadText = (x: Spread | null, number: Format = share, deviation: Format = share): string =>
  x === null || x.values.length === 0 ? DASH : number(x.mean) + (x.sd === null ? '' : ` ± ${deviation(x.sd)}`);

/** How many seeds stand behind figures: 3, or 1–2 where not all of them have the same. Absent figures do not count. */
export function seedCount(figures: readonly (Spread | null)[]): string {
  const counts = figures.flatMap((x) => (x === null || x.values.length === 0 ? [] : [x.values.length]));
  if (counts.length === 0) return DASH;
  const [low, high] = [Math.min(...counts), Math.max(...counts)];
  return low === high ? count(high) : `${count(low)}–${count(high)}`;
}

type Costs = SeedsReport['costs'];

/** The system beside its costs, marked where they are of runs that are not whole. */
export const costName = (costs: Costs, system: string): string =>
  system + (costs[system]!.finished ? '' : ' (unfinished)');

/** A cost as a multiple of the reference's; nothing where one of them is not whole. */
export const timesOf =
  (costs: Costs, reference: string) =>
  (system: string, value: number, of: number): string =>
    of > 0 && costs[system]!.finished && costs[reference]!.finished ? ` (${(value / of).toFixed(2)}×)` : '';
