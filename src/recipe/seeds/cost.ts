/** What a system costs, its shared part included: work of the engine, rollouts, verification, updates, time. */
import type { Usage } from '../../engine.ts';
import type { Asked } from '../../matcher.ts';
import type { StepRecord, VerificationRecord } from '../../record.ts';
import { askedIn } from '../../train/judged.ts';
import { addUsage, NO_USAGE } from '../../train/usage.ts';
import { BASE, type RunLines } from '../rounds.ts';
import { sharedOf } from '../systems.ts';
import { type Time, timeOf } from '../time.ts';

/** What it asked a judge is counted step by step. */
export interface SystemCost extends Time, Asked {
  readonly usage: Usage;
  /** Trajectories of every kind: proposals, responses, exam questions, verifications. */
  readonly rollouts: number;
  /** MSV's answers and their searches: part of `rollouts`, counted apart. */
  readonly verifications: number;
  readonly verificationSearches: number;
  readonly auxiliaryUpdates: number;
}

export function systemCost({ steps, writes, evaluations }: RunLines, system: string): SystemCost {
  const own = ({ record }: { readonly record: { readonly system: string } }): boolean =>
    [system, sharedOf(system)].includes(record.system) && record.system !== BASE;
  const [mySteps, myWrites, myExams] = [steps.filter(own), writes.filter(own), evaluations.filter(own)];
  const verified = [...mySteps, ...myWrites].map(
    ({ record }): VerificationRecord | null => record.verification ?? null,
  );
  const total = (of: (v: VerificationRecord) => number): number =>
    verified.reduce((sum, v) => sum + (v === null ? 0 : of(v)), 0);
  const verifications = total((v) => v.generations);
  const lines = [...mySteps, ...myWrites, ...myExams];
  return {
    usage: lines.reduce((sum, { record }) => addUsage(sum, record.usage), NO_USAGE),
    rollouts:
      mySteps.reduce((sum, { record }) => sum + rolloutsOf(record), 0) +
      myWrites.reduce((sum, { record }) => sum + record.tried, 0) +
      myExams.reduce((sum, { record }) => sum + record.em.length, 0) +
      verifications,
    verifications,
    verificationSearches: total((v) => v.searches),
    auxiliaryUpdates: mySteps.filter(({ record }) => record.phase === 'auxiliary').length,
    ...askedIn([...mySteps, ...myWrites].map(({ record }) => record)),
    ...timeOf(lines),
  };
}

const rolloutsOf = ({ phase, counts, feedback }: StepRecord): number =>
  counts.trajectories + (phase === 'proposer' ? feedback.reduce((sum, { responses }) => sum + responses.length, 0) : 0);
