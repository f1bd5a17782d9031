/**
 * R-Zero*: a challenger and a solver in turn (method.md section 7). p is the share of the m = 10 solver answers that agree
 * with their majority, which is the label:
 *
 *   challenger reward = max(0, 1 − 2·|p − ½| − share of its near-duplicate cluster)        bad format: 0
 *   a question is kept for the solver iff .3 ≤ p ≤ .8
 */
export const R_ZERO = { answers: 10, least: 0.3, most: 0.8 } as const;

/** 1 where half of the answers agree, 0 where none or all do. */
export const uncertainty = (p: number): number => 1 - 2 * Math.abs(p - 0.5);

/** `cluster`: share of the batch that says nearly the same (method/near-duplicate). */
export const challengerReward = (p: number, cluster: number): number => Math.max(0, uncertainty(p) - cluster);

export type TooSure = 'too_uncertain' | 'too_certain';

/** Null: kept. */
export function refusal(p: number): TooSure | null {
  if (p < R_ZERO.least) return 'too_uncertain';
  return p > R_ZERO.most ? 'too_certain' : null;
}
