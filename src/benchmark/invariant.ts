/**
 * What no right metric can do. EM above F1 on any item proves a wrong metric: an equal answer shares every token. Ours can
 * never; files that others scored are checked before they are believed.
 */

export type MetricFault = 'em_gt_f1' | 'em_gt_cover_em' | 'metric_out_of_range';

/** Shares, or percentages throughout; what a file lacks is undefined. */
export interface Metrics {
  readonly em?: number | undefined;
  readonly coverEm?: number | undefined;
  readonly f1?: number | undefined;
}

/** Decimal places that files round to. */
const rounding = 1e-3;

/** The first rule of arithmetic that these metrics of one item break; null when they may be right. */
export function metricFault({ em, coverEm, f1 }: Metrics): MetricFault | null {
  const outside = [em, coverEm, f1].some((x) => x !== undefined && !(x >= 0 && x <= 100));
  if (outside) return 'metric_out_of_range';
  if (em !== undefined && f1 !== undefined && em > f1 + rounding) return 'em_gt_f1';
  if (em !== undefined && coverEm !== undefined && em > coverEm + rounding) return 'em_gt_cover_em';
  return null;
}

export const faultText = {
  em_gt_f1: 'EM above F1 on an item proves a wrong metric: an equal answer shares every token',
  em_gt_cover_em: 'EM above Cover-EM on an item proves a wrong metric: an equal answer contains the gold',
  metric_out_of_range: 'a metric of one item lies between 0 and 1 (or 0 and 100)',
} satisfies Record<MetricFault, string>;
