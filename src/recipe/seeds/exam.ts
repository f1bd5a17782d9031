/** The exam after the last round, by hop count, and against the base policy that the arm started from (method.md section 6). */
import type { DownstreamAudit } from '../audit/downstream.ts';
import type { PairedFigure } from './contrast.ts';
import { roundIn, type SeedArm } from './runs.ts';
import { type Spread, spreadOf, tInterval } from './spread.ts';

export interface ArmExam {
  /** Name of the arm. */
  readonly system: string;
  readonly seeds: readonly number[];
  readonly em: Spread;
  readonly coverEm: Spread;
  /** Hop count → exact match. */
  readonly byHops: Readonly<Record<string, Spread>>;
  /** Searches a question. */
  readonly searches: Spread;
  /** Exact match minus that of the base under the same settings, seed by seed; null where no seed has both. */
  readonly againstBase: PairedFigure | null;
}

/** Null before the first seed has it. */
export function examOf({ name, system, runs }: SeedArm, lastRound: number): ArmExam | null {
  const own = runs.flatMap((run) => {
    const exam = roundIn(run, system, lastRound)?.downstream;
    return exam?.all ? [{ seed: run.seed, exam, all: exam.all, base: run.report.base?.all ?? null }] : [];
  });
  if (own.length === 0) return null;
  const over = (of: (exam: DownstreamAudit) => number | undefined): Spread =>
    spreadOf(own.flatMap(({ exam }) => of(exam) ?? []));
  const differences = own.flatMap(({ all, base }) => (base === null ? [] : [all.em.point - base.em.point]));
  const difference = spreadOf(differences);
  return {
    system: name,
    seeds: own.map(({ seed }) => seed),
    em: over(({ all }) => all?.em.point),
    coverEm: over(({ all }) => all?.coverEm.point),
    byHops: Object.fromEntries(
      Object.keys(own[0]!.exam.byHops).map((hops) => [hops, over(({ byHops }) => byHops[hops]?.em.point)]),
    ),
    searches: over(({ searches }) => searches),
    againstBase: differences.length === 0 ? null : { difference, overSources: null, overSeeds: tInterval(difference) },
  };
}
