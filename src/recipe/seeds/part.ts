/**
 * What was computed once is shown once. Systems of one label rule and the same settings share round 1; under other settings it
 * is another one, unless the settings come into play later and every seed computed the very same rollouts.
 */
import { sharedOf } from '../systems.ts';
import { linesIn, roundIn, type SeedArm, type SeedRun } from './runs.ts';

/** Names of what the arms computed in a round, in their order: the arm itself, or the shared part it branches from. */
export function partsOf(arms: readonly SeedArm[], round: number): string[] {
  const parts: string[] = [];
  for (const [i, arm] of arms.entries()) {
    const { name, system, suffix, runs } = arm;
    const shared = runs.some((run) => roundIn(run, system, round)?.shared);
    const twin = shared ? arms.findIndex((other, o) => o < i && sameRound(other, arm, round)) : -1;
    parts.push(parts[twin] ?? (shared ? sharedOf(system) + suffix : name));
  }
  return parts;
}

function sameRound(a: SeedArm, b: SeedArm, round: number): boolean {
  if (sharedOf(a.system) !== sharedOf(b.system)) return false;
  // A training baseline shares nothing.
  if (!a.runs.some((run) => roundIn(run, a.system, round)?.shared)) return false;
  if (a.suffix === b.suffix) return true;
  return b.runs.every((run) => {
    const other = a.runs.find(({ seed }) => seed === run.seed);
    return other !== undefined && rolloutsIn(other, a.system, round) === rolloutsIn(run, b.system, round);
  });
}

/** Blobs are named by their content. */
function rolloutsIn(run: SeedRun, system: string, round: number): string {
  if (roundIn(run, system, round) === undefined) return '';
  const { proposer, solver, write } = linesIn(run, system, round);
  return [...proposer, ...solver, ...(write === null ? [] : [write])].map(({ record }) => record.rollouts).join();
}

interface Parted {
  readonly part: string;
  readonly round: number;
}

/** Is it the first of the rounds that were computed together? That part is shown with it, once. */
export const leadsPart = <R extends Parted>(rounds: readonly R[], own: R): boolean =>
  rounds.find(({ part, round }) => part === own.part && round === own.round) === own;
