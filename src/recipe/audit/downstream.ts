/**
 * Downstream accuracy on the gold questions (method.md section 6). A question lost to an outage is left out, never wrong. Gold
 * questions are resampled one by one, since the record of an exam does not name their sources.
 */
import { bootstrapAll, type Interval, type McNemar, mcnemar, weightedMean, wilson } from '../../method/statistics.ts';
import type { EvaluationRecord } from '../../record.ts';

export interface Score {
  readonly n: number;
  /** Wilson's 95 % intervals. */
  readonly em: Interval;
  readonly coverEm: Interval;
}

export interface Comparison {
  /** Questions that both answered. */
  readonly n: number;
  /** Mean of b − a, 95 % bootstrap intervals. */
  readonly em: Interval;
  readonly coverEm: Interval;
  readonly mcnemarEm: McNemar;
  readonly mcnemarCoverEm: McNemar;
}

export interface DownstreamAudit {
  /** Null when no question was answered. */
  readonly all: Score | null;
  /** Hop count → score. */
  readonly byHops: Readonly<Record<string, Score | null>>;
  readonly policy: string;
  readonly searches: number;
  readonly unanswered: number;
  readonly failed: number;
  /** This against the base policy; null for the base itself. */
  readonly againstBase: Comparison | null;
}

export function auditDownstream(record: EvaluationRecord, base: EvaluationRecord | null): DownstreamAudit {
  const kept = answered(record);
  const hopCounts = [...new Set(record.hops)].sort();
  return {
    all: scoreOf(record, kept),
    byHops: Object.fromEntries(
      hopCounts.map((hops) => [
        hops,
        scoreOf(
          record,
          kept.filter((i) => record.hops[i] === hops),
        ),
      ]),
    ),
    policy: record.policy,
    searches: record.searches,
    unanswered: record.unanswered,
    failed: record.failed.length,
    againstBase: base === null || base === record ? null : compare(base, record),
  };
}

/** b against a on the questions that neither lost; null when there are none, or the exams differ in length. */
export function compare(a: EvaluationRecord, b: EvaluationRecord): Comparison | null {
  const lost = new Set(a.failed);
  const kept = answered(b).filter((i) => !lost.has(i));
  if (kept.length === 0 || a.em.length !== b.em.length) return null;
  const of = (flags: readonly boolean[]): boolean[] => kept.map((i) => flags[i]!);
  const difference = (field: 'em' | 'coverEm') =>
    weightedMean(kept.map((i) => Number(b[field][i]) - Number(a[field][i])));
  const [em, coverEm] = [difference('em'), difference('coverEm')];
  const intervals = bootstrapAll((weights) => [em(weights), coverEm(weights)], kept.map(String), { key: 'exam' });
  return {
    n: kept.length,
    em: intervals[0]!,
    coverEm: intervals[1]!,
    mcnemarEm: mcnemar(of(a.em), of(b.em)),
    mcnemarCoverEm: mcnemar(of(a.coverEm), of(b.coverEm)),
  };
}

function answered({ em, failed }: EvaluationRecord): number[] {
  const lost = new Set(failed);
  return em.map((_, i) => i).filter((i) => !lost.has(i));
}

function scoreOf({ em, coverEm }: EvaluationRecord, kept: readonly number[]): Score | null {
  if (kept.length === 0) return null;
  const share = (flags: readonly boolean[]): Interval => wilson(kept.filter((i) => flags[i]).length, kept.length);
  return { n: kept.length, em: share(em), coverEm: share(coverEm) };
}
