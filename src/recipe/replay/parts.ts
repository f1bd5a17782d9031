/** Does a bank have questions for every grader? A split by a seed's hash may leave one part of a small bank empty. */
import { UserError } from '../../util/error.ts';
import { groupBy } from '../../util/group.ts';
import type { BankQuestion } from './bank.ts';
import type { ReplayRequest } from './config.ts';
import { ARMS, type Arm, askings } from './plan.ts';

export const armNamed = (name: string): Arm => ARMS.find((arm) => arm.name === name)!;

/** Names of the arms with a grader that would be fitted on no question. */
const idleArms = (arms: readonly string[], bank: readonly BankQuestion[], seed: number): string[] =>
  arms.filter((name) => askings(armNamed(name), bank, seed, 1).some(({ fit }) => fit.on.length === 0));

/** Seeds of a plan that a message lists. */
const SHOWN = 3;
const counted = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

/** `a or b`; `a, b, or c`. */
const oneOf = (cures: readonly string[]): string =>
  cures.length < 3 ? cures.join(' or ') : `${cures.slice(0, -1).join(', ')}, or ${cures.at(-1)}`;

/** `seed 3`; `seeds 1, 2, 3 and 2 more`. */
function listed(seeds: readonly number[]): string {
  const more = seeds.length > SHOWN ? ` and ${seeds.length - SHOWN} more` : '';
  return `seed${seeds.length === 1 ? '' : 's'} ${seeds.slice(0, SHOWN).join(', ')}${more}`;
}

/** Seeds count from 1: all before this one can be asked for. */
const fewer = (seed: number): string[] => (seed > 1 ? [`ask for --seeds ${seed - 1}`] : []);

/**
 * To be called before anything is computed. Verified labels are of a part of the bank: where the whole is too small, so are
 * they. @param limited did --limit leave questions out? @throws UserError
 */
export function checkParts(bank: readonly BankQuestion[], { arms, seeds }: ReplayRequest, limited: boolean): void {
  const idle = seeds.map((seed) => ({ seed, arms: idleArms(arms, bank, seed) })).filter((own) => own.arms.length > 0);
  const [first] = idle;
  if (first === undefined) return;
  const seedsOf = (arm: string): number[] => idle.flatMap((own) => (own.arms.includes(arm) ? [own.seed] : []));
  const plans = arms.filter((arm) => seedsOf(arm).length > 0);
  // Plans with one split lack questions under the same seeds.
  const where = [...groupBy(plans, (arm) => listed(seedsOf(arm)))].map(
    ([under, own]) => `of ${own.join(', ')} with ${under}`,
  );
  const cures = [
    `Give a larger bank${limited ? ' (or a higher --limit)' : ''}`,
    'leave plans out of --plans',
    ...fewer(first.seed),
  ];
  const sources = new Set(bank.map(({ source }) => source)).size;
  throw new UserError(
    `the bank has ${counted(bank.length, 'question')} of ${counted(sources, 'source')}, too few for a grader ${where.join('; ')}: it would be fitted on none of them. ${oneOf(cures)}`,
  );
}

/** Of the questions that MSV admitted with a seed. @throws UserError */
export function checkVerified(
  admitted: readonly BankQuestion[],
  of: number,
  arms: readonly string[],
  seed: number,
): void {
  const idle = idleArms(arms, admitted, seed);
  if (idle.length === 0) return;
  throw new UserError(
    `with seed ${seed} MSV admitted ${admitted.length} of the bank's ${of} questions, and a grader of ${idle.join(', ')} would be fitted on none of them. What was computed is kept: leave ${idle.length === 1 ? 'that plan' : 'those plans'} out of --plans${fewer(
      seed,
    )
      .map((cure) => `, ${cure}`)
      .join('')}, or replay a larger bank in another --run folder`,
  );
}
