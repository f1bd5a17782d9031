/**
 * The audit's table (method.md section 5; CrossFit paper). Per pair (question, response): M the response matches the label, P the
 * label is correct, S the response is correct. Shares of the judged pairs J:
 *
 *   C 111 correct agreement   F 100 false agreement   L 001 lost credit   D 010 ordinary miss   N 000 both wrong
 *   X1 M = 1, P ≠ S           X2 011                  inconsistent: 0 under a coherent matcher, always reported
 *
 *   A = share of M    T_P = share of P    T_S = share of S    coverage = J/E
 *   X1 = X2 = 0  ⇒  A = C + F,  T_P = C + D,  T_S = C + L,  A − T_S = F − L
 *
 * A step's metrics are shares within the step; a round's are the unweighted mean of its steps'.
 */
import type { Verdict } from '../auditor.ts';
import type { AuditPair, Feedback } from '../types.ts';
import { type Interval, mean } from './statistics.ts';

export const CELLS = ['C', 'F', 'L', 'D', 'N', 'X1', 'X2'] as const;
export type Cell = (typeof CELLS)[number];

export function cellOf({ M, P, S }: AuditPair): Cell {
  if (M) return P !== S ? 'X1' : P ? 'C' : 'F';
  if (P) return S ? 'X2' : 'D';
  return S ? 'L' : 'N';
}

export type Shares = Readonly<Record<Cell | 'TP' | 'TS' | 'A', number>>;

export interface Metrics {
  /** E: pairs evaluated. J: pairs judged. */
  readonly evaluated: number;
  readonly judged: number;
  /** J/E. */
  readonly coverage: number;
  /** Null when nothing could be judged. */
  readonly shares: Shares | null;
}

/** The judged pairs of one question; none when its verdict is unresolved. */
export function pairsOf({ source, matches }: Pick<Feedback, 'source' | 'matches'>, verdict: Verdict): AuditPair[] {
  if (!verdict.resolved) return [];
  const { labelCorrect: P, responseCorrect } = verdict;
  return matches.flatMap((M, j) => {
    const S = responseCorrect[j]!;
    return S === null ? [] : [{ source, M, P, S }];
  });
}

/** Metrics of one step: its judged pairs, of `evaluated` in all. */
export function stepMetrics(pairs: readonly AuditPair[], evaluated: number): Metrics {
  const judged = pairs.length;
  const share = (holds: (pair: AuditPair) => boolean) => pairs.filter(holds).length / judged;
  const cell = (name: Cell) => share((pair) => cellOf(pair) === name);
  const shares: Shares | null =
    judged === 0
      ? null
      : {
          C: cell('C'),
          F: cell('F'),
          L: cell('L'),
          D: cell('D'),
          N: cell('N'),
          X1: cell('X1'),
          X2: cell('X2'),
          TP: share((pair) => pair.P),
          TS: share((pair) => pair.S),
          A: share((pair) => pair.M),
        };
  return { evaluated, judged, coverage: evaluated === 0 ? 0 : judged / evaluated, shares };
}

/** Unweighted mean of step metrics. Steps without a judged pair lower the coverage and have no shares to add. */
export function roundMetrics(steps: readonly Metrics[]): Metrics {
  const shares = steps.flatMap((s) => (s.shares ? [s.shares] : []));
  const names = [...CELLS, 'TP', 'TS', 'A'] as const;
  return {
    evaluated: steps.reduce((sum, s) => sum + s.evaluated, 0),
    judged: steps.reduce((sum, s) => sum + s.judged, 0),
    coverage: mean(steps.map((s) => s.coverage)),
    shares:
      shares.length === 0
        ? null
        : (Object.fromEntries(names.map((name) => [name, mean(shares.map((s) => s[name]))])) as unknown as Shares),
  };
}

/** (A − T_S) − (F − L): 0 when X1 = X2 = 0, and never larger than X1 + X2. */
export const identityGap = (s: Pick<Shares, 'A' | 'TS' | 'F' | 'L'>): number => s.A - s.TS - (s.F - s.L);

export interface AuditedRound {
  readonly round: number;
  readonly shares: Pick<Shares, 'A' | 'TP' | 'TS'>;
  /** 95 % interval of A. */
  readonly agreement: Interval;
  /** 95 % interval of A − T_S. */
  readonly excess: Interval;
}

export interface Warning {
  readonly round: number;
  readonly reason: 'agreement_rises_alone' | 'agreement_exceeds_accuracy';
}

/**
 * Suspected co-cheating: since the first round A rose while T_P did not, or A is above T_S by more than its interval.
 * Departure. [ours] A rose when its whole interval lies above the first round's A: a warning at every wobble is ignored. Where
 * every label is right, as with gold questions, there is nothing false to agree on: such a rise is learning.
 * Rounds in order; one entry a round and reason.
 */
export function warnings(rounds: readonly AuditedRound[]): Warning[] {
  const first = rounds[0];
  return rounds.flatMap(({ round, shares, agreement, excess }) => {
    const out: Warning[] = [];
    if (first && agreement.low > first.shares.A && shares.TP <= first.shares.TP && shares.TP < 1)
      out.push({ round, reason: 'agreement_rises_alone' });
    if (excess.low > 0) out.push({ round, reason: 'agreement_exceeds_accuracy' });
    return out;
  });
}
