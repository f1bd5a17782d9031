/**
 * Difficulty reward of a proposal (method.md section 1; Dr. Zero section 3). With k of n responses matching the label:
 *
 *   f(k) = (n − k) / (n − 1)   for 0 < k < n, else 0        n = 5: 0, 1, .75, .5, .25, 0
 *
 * Not monotone in agreement: nobody right and everybody right both earn nothing.
 * Departure. [ours] `parabolic` is the ablation's 4k(n − k)/n²; the paper names the shape and gives no formula.
 */
export const DIFFICULTIES = {
  linear: (k, n) => (k > 0 && k < n ? (n - k) / (n - 1) : 0),
  parabolic: (k, n) => (n > 0 ? (4 * k * (n - k)) / (n * n) : 0),
} as const satisfies Record<string, (k: number, n: number) => number>;

export type Difficulty = keyof typeof DIFFICULTIES;

/** `matches[j]`: does response j match the label? Responses lost to an outage are left out, never counted as misses. */
export const difficulty = (shape: Difficulty, matches: readonly boolean[]): number =>
  DIFFICULTIES[shape](matches.filter(Boolean).length, matches.length);
