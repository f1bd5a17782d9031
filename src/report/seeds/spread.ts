/** A figure over seeds as text. */
import type { Spread } from '../../recipe/seeds/spread.ts';
import { DASH, share } from '../format.ts';

type Format = (x: number) => string;

/** .035 ± .004; a single seed has no deviation. */
export const spreadText = (x: Spread | null, number: Format = share, deviation: Format = share): string =>
  x === null || x.values.length === 0 ? DASH : number(x.mean) + (x.sd === null ? '' : ` ± ${deviation(x.sd)}`);

/** As a multiple of the reference. */
export const times = (value: number, of: number): string => (of > 0 ? ` (${(value / of).toFixed(2)}×)` : '');
