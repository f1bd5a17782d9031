/** The base policy of a comparison: one for all runs, and its exam. */
import { UserError } from '../../util/error.ts';
import type { Settled } from './arms.ts';
import type { SeedArm, SeedRun } from './runs.ts';
import { type Spread, spreadOf } from './spread.ts';

/** A shipped policy may be another one in another version. Names of a server's weights say nothing. */
export function checkBase(opened: readonly Settled[], runs: readonly SeedRun[]): void {
  const [first, wanted] = [opened[0]!.dir, runs[0]!.report.setup.base.policy];
  for (const [i, { dir, config }] of opened.entries()) {
    const { policy } = runs[i]!.report.setup.base;
    if (config.engine === undefined && policy !== wanted)
      throw new UserError(
        `${dir}: policy ${config.policy} has the weights ${policy}, but in ${first} it has ${wanted}; runs of one report start from one policy`,
      );
  }
}

export interface Bases {
  /** Exam of the base policy under the settings of the first run. */
  readonly base: Spread | null;
  /** The same under settings that change it, such as top-k. */
  readonly otherBases: readonly { readonly name: string; readonly em: Spread }[];
}

export function basesOf(arms: readonly SeedArm[]): Bases {
  const examsOf = (suffix: string): number[] => {
    const runs = new Set(arms.filter((arm) => arm.suffix === suffix).flatMap((arm) => arm.runs));
    return [...runs].flatMap(({ report }) => report.base?.all?.em.point ?? []);
  };
  const own = examsOf('');
  const others = [...new Set(arms.map(({ suffix }) => suffix))].map((suffix) => ({
    name: `base${suffix}`,
    values: examsOf(suffix),
  }));
  return {
    base: own.length === 0 ? null : spreadOf(own),
    otherBases: others
      .filter(({ values }) => values.some((value) => !own.includes(value)))
      .map(({ name, values }) => ({ name, em: spreadOf(values) })),
  };
}
