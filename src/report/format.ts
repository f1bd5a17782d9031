/** Numbers as papers print them. Null and NaN are a dash: nothing was measured. */
import type { Interval } from '../method/statistics.ts';

export const DASH = '–';
const missing = (x: number | null | undefined): x is null | undefined => x == null || Number.isNaN(x);

/** .710, −.012, 1.000 */
export function share(x: number | null | undefined, digits = 3): string {
  if (missing(x)) return DASH;
  const text = Math.abs(x).toFixed(digits).replace(/^0\./, '.');
  return Number(text) === 0 || x >= 0 ? text : `−${text}`;
}

/** +.012, −.012, .000 */
export function signed(x: number | null | undefined, digits = 3): string {
  const text = share(x, digits);
  return !missing(x) && x > 0 && Number(text) !== 0 ? `+${text}` : text;
}

/** .061 [.042, .081] */
export const interval = (x: Interval | null | undefined, number = share): string =>
  x ? `${number(x.point)} [${number(x.low)}, ${number(x.high)}]` : DASH;

/** 12,345 */
export const count = (n: number): string => Math.round(n).toLocaleString('en-US');

/** `1,204`, or `1,204 (3 unread)` where the judge gave no readable verdict on some. */
export const judgeRequests = ({ judged, unread }: { readonly judged: number; readonly unread: number }): string =>
  count(judged) + (unread > 0 ? ` (${count(unread)} unread)` : '');

/** 950, 12.3 k, 4.56 M */
export function large(n: number): string {
  if (n < 1000) return count(n);
  const [scale, unit] = n < 999_500 ? [1e3, 'k'] : n < 999_500_000 ? [1e6, 'M'] : [1e9, 'G'];
  return `${(n / scale).toPrecision(3)} ${unit}`;
}

/** 0.4 s, 12 s, 3 min 20 s, 2 h 05 min */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** p = .031, p < .001 */
export const pValue = (p: number): string => (p < 0.001 ? 'p < .001' : `p = ${share(p)}`);
