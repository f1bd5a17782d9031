/**
 * Who graded, and what had trained the grader before (method.md section 4). Descent is read from solver and auxiliary steps:
 * `after` comes from `before`, trained on the labels of the sources in the step's feedback.
 */
import type { SetupRecord, StepRecord } from '../../record.ts';
import { type Lineage, lineage } from '../../store/descent.ts';
import { UserError } from '../../util/error.ts';
import { groupBy } from '../../util/group.ts';
import { baseDescent, descentOf } from '../descent.ts';
import type { Line, RoundLines, RunLines } from '../rounds.ts';

export interface GraderAudit {
  readonly system: string;
  readonly round: number;
  readonly phase: StepRecord['phase'];
  /** "base policy", "main solver" or "auxiliary 0". */
  readonly role: string;
  /** Ids in order of use; the solver is a new one after every step. */
  readonly policies: readonly string[];
  readonly questions: number;
  /** Sources of the graded questions. */
  readonly sources: number;
  /** Sources whose labels trained a policy of the row or one it comes from; null where a link of the descent is missing. */
  readonly ancestry: number | null;
  /** Graded sources whose labels are in the ancestry of the policy that graded them. 0 for the proposer under crossfit. */
  readonly overlap: number | null;
}

/** One row per role that graded in a phase of a round. */
export function auditGraders({ setup, steps, rounds }: RunLines): GraderAudit[] {
  const roles = rolesOf(setup, steps);
  const line = lineage([baseDescent(setup.base), ...steps.flatMap(({ record }) => descentOf(record) ?? [])]);
  return rounds.flatMap((round) => [
    ...rowsOf(round, 'proposer', roles, line),
    ...rowsOf(round, 'solver', roles, line),
    ...rowsOf(round, 'auxiliary', roles, line),
  ]);
}

function rolesOf(setup: SetupRecord, steps: readonly Line<StepRecord>[]): ReadonlyMap<string, string> {
  const roles = new Map<string, string>();
  for (const { record } of steps) {
    if (record.phase === 'proposer') continue;
    roles.set(record.after.policy, trainedBy(record));
  }
  return roles.set(setup.base.policy, 'base policy');
}

/** While it trains, a solver is one grader that changes, though its first policy may be the base. */
const trainedBy = ({ phase, auxiliary }: StepRecord): string =>
  phase === 'auxiliary' ? `auxiliary ${auxiliary}` : 'main solver';

function rowsOf(
  round: RoundLines,
  phase: StepRecord['phase'],
  roles: ReadonlyMap<string, string>,
  line: Lineage,
): GraderAudit[] {
  const graded = round[phase].flatMap(({ record }) => record.feedback.map((asked) => ({ record, asked })));
  const byRole = groupBy(graded, ({ record, asked }) =>
    phase === 'proposer' ? (roles.get(asked.grader) ?? 'unknown policy') : trainedBy(record),
  );
  return [...byRole].map(([role, own]) => {
    const asked = own.map((one) => one.asked);
    const policies = [...new Set(asked.map(({ grader }) => grader))];
    const ancestors = new Map(policies.map((policy) => [policy, ancestryOf(line, policy)]));
    const known = [...ancestors.values()].every((found) => found !== null);
    const seen = asked.filter(({ grader, source }) => ancestors.get(grader)?.has(source));
    return {
      system: round.system,
      round: round.round,
      phase,
      role,
      policies,
      questions: asked.length,
      sources: new Set(asked.map(({ source }) => source)).size,
      ancestry: known ? new Set([...ancestors.values()].flatMap((found) => [...found!])).size : null,
      overlap: known ? new Set(seen.map(({ source }) => source)).size : null,
    };
  });
}

/** Null when a link is missing: an audit reports what it cannot know, it does not stop for it. */
function ancestryOf(line: Lineage, policy: string): ReadonlySet<string> | null {
  try {
    return line.ancestry(policy);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}
