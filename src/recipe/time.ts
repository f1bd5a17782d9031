/** How long lines of a journal took, and how long the engine worked meanwhile. */
import type { Line } from './rounds.ts';

export interface Time {
  /** Milliseconds of the run; what ran side by side counts once. */
  readonly ms: number;
  /** Milliseconds of these with work under way in the engine; null where the journal does not say. */
  readonly busy: number | null;
}

export const timeOf = (lines: readonly Pick<Line<unknown>, 'ms' | 'lap'>[]): Time =>
  sumTimes(lines.map(({ ms, lap }) => ({ ms: lap?.wall ?? ms, busy: lap?.busy ?? null })));

export const sumTimes = (times: readonly Time[]): Time => ({
  ms: times.reduce((sum, { ms }) => sum + ms, 0),
  busy: times.reduce<number | null>((sum, { busy }) => (sum === null || busy === null ? null : sum + busy), 0),
});

/** Share of the time in which the engine had nothing to do; null where the journal does not say. */
export const idleShare = ({ ms, busy }: Time): number | null => (busy === null || ms === 0 ? null : 1 - busy / ms);
