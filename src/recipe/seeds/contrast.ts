/** An arm against the reference, seed by seed. */
import type { Interval } from '../../method/statistics.ts';
import type { JudgedStep } from '../audit/judge.ts';
import { contrastScopes, MEASURES, type Measure, measureOf } from '../audit/scope.ts';
import { linesIn, roundIn, type SeedArm, type SeedRun } from './runs.ts';
import { type Spread, spreadOf, tInterval } from './spread.ts';

export interface PairedFigure {
  readonly difference: Spread;
  readonly overSources: Interval | null;
  readonly overSeeds: Interval | null;
}

export interface SeedContrast {
  readonly a: string;
  readonly b: string;
  readonly round: number;
  readonly seeds: readonly number[];
  readonly scheduled: Readonly<Record<Measure, PairedFigure>>;
  readonly proposer: Readonly<Record<Measure, PairedFigure>>;
  readonly em: PairedFigure | null;
}

/** b − a where a seed has both; steps of all seeds share one pool of sources. */
export function contrast(a: SeedArm, b: SeedArm, round: number): SeedContrast | null {
  const both = b.runs.flatMap((run) => {
    const [before, after] = [partner(a, run.seed, round), roundIn(run, b.system, round)];
    return before === null || after === undefined ? [] : [{ run, before, after }];
  });
  if (both.length === 0) return null;
  const paired = (scope: 'scheduled' | 'proposer'): Readonly<Record<Measure, PairedFigure>> => {
    const stepsOf = (run: SeedRun, system: string): readonly JudgedStep[] => {
      const lines = linesIn(run, system, round);
      const parts = scope === 'proposer' ? lines.proposer : [...lines.proposer, ...lines.solver];
      return parts.map(({ key }) => run.judged.get(key)!);
    };
    const over = contrastScopes(
      both.flatMap(({ before }) => stepsOf(before.run, a.system)),
      both.flatMap(({ run }) => stepsOf(run, b.system)),
      `${a.name} against ${b.name}, round ${round} ${scope}, all seeds`,
    );
    return Object.fromEntries(
      MEASURES.map((m) => {
        const values = both.flatMap(({ before, after }) => {
          const [x, y] = [measureOf(before.audit.scopes[scope], m), measureOf(after.scopes[scope], m)];
          return x === null || y === null ? [] : [y - x];
        });
        const difference = spreadOf(values);
        return [m, { difference, overSources: over?.[m] ?? null, overSeeds: tInterval(difference) }];
      }),
    ) as Record<Measure, PairedFigure>;
  };
  const exams = both.flatMap(({ before, after }) => {
    const [x, y] = [before.audit.downstream?.all?.em.point, after.downstream?.all?.em.point];
    return x === undefined || y === undefined ? [] : [y - x];
  });
  const em = exams.length === 0 ? null : spreadOf(exams);
  return {
    a: a.name,
    b: b.name,
    round,
    seeds: both.map(({ run }) => run.seed),
    scheduled: paired('scheduled'),
    proposer: paired('proposer'),
    em: em === null ? null : { difference: em, overSources: null, overSeeds: tInterval(em) },
  };
}

/** Where the same seed ran the other arm: the same run, or one that was added. */
function partner({ system, runs }: SeedArm, seed: number, round: number) {
  const run = runs.find((own) => own.seed === seed);
  const audit = run && roundIn(run, system, round);
  return run === undefined || audit === undefined ? null : { run, audit };
}
