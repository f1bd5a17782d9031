/** The base policy of a comparison: one for all runs, and its exam. */
import { UserError } from '../../util/error.ts';
import type { Settled } from './arms.ts';
import type { SeedArm, SeedRun } from './runs.ts';
import { type Spread, spreadOf } from './spread.ts';

/** A shipped policy may be another one in another version. Names of a server's weights say nothing. */
export function checkBase(opened: readonly Pick<Settled, 'dir' | 'config'>[], runs: readonly SeedRun[]): void {
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
  /** The same under settings that change it, such as top-k, or without search. */
  readonly otherBases: readonly { readonly name: string; readonly em: Spread }[];
}

interface Group {
  readonly name: string;
  readonly suffix: string;
  readonly bySeed: Map<number, number>;
}

/** One value a seed: runs of one seed that agree have the same base. */
export function basesOf(arms: readonly SeedArm[]): Bases {
  const groups: Group[] = [];
  for (const { system, suffix, runs } of arms) {
    const exams = runs.flatMap(({ seed, report }) => {
      const em = report.base?.all?.em.point;
      return em === undefined ? [] : [[seed, em] as const];
    });
    if (exams.length === 0) continue;
    const agrees = ({ suffix: other, bySeed }: Group): boolean => {
      const both = exams.filter(([seed]) => bySeed.has(seed));
      return both.length === 0 ? other === suffix : both.every(([seed, em]) => bySeed.get(seed) === em);
    };
    const known = groups.find(agrees);
    if (known === undefined) {
      const name = groups.length === 0 ? 'base' : suffix === '' ? `base of ${system}` : `base${suffix}`;
      groups.push({ name, suffix, bySeed: new Map(exams) });
    } else for (const [seed, em] of exams) known.bySeed.set(seed, em);
  }
  const [first, ...others] = groups.map(({ name, bySeed }) => ({ name, em: spreadOf([...bySeed.values()]) }));
  return { base: first?.em ?? null, otherBases: others };
}
