/** The proposer writes questions until enough are admitted (method.md section 1): the bank of a round. */
import type { LabelRule } from '../method/label.ts';
import type { VerificationRecord, WriteRecord } from '../record.ts';
import { type Filling, fillBank } from './bank.ts';
import type { Context } from './context.ts';
import { costing } from './cost.ts';
import { proposalNote, putRollouts, type RolloutNote } from './measure.ts';
import { candidateOf, sumVerifications, verifierNotes, verifyAll } from './verify.ts';

const FILLING: Filling = {
  batch: 128,
  patience: 20,
  cause: "the policy does not write this task's questions",
};

export async function writeBank(
  given: Context,
  at: {
    readonly system: string;
    readonly round: number;
    readonly policy: string;
    readonly labels: LabelRule;
    /** Policy id of the round's main solver, which verifies under MSV. */
    readonly mainSolver: string;
  },
): Promise<WriteRecord> {
  const [context, cost] = costing(given);
  const { seed } = context.settings;
  const notes: RolloutNote[] = [];
  const verifications: VerificationRecord[] = [];
  const filled = await fillBank(context, at, FILLING, async (drafted, step, bank) => {
    const open = drafted.filter((d) => d.rollout.stop !== 'error' && d.format.gate === null);
    const candidates = open.map((d, i) => candidateOf(d, `${seed}/verify write/${at.round}/${step}/${i}`));
    const { verified, record } = await verifyAll(at.labels, context, at.mainSolver, candidates);
    if (record !== null) verifications.push(record);
    notes.push(...verifierNotes(candidates, verified));
    const verdicts = new Map(open.map((d, c) => [d, verified[c]!]));
    for (const d of drafted) {
      if (bank.isFull()) break;
      const { rollout, source, hops, format } = d;
      const reason = rollout.stop === 'error' ? 'outage' : (format.gate ?? verdicts.get(d)!.reason);
      const place =
        reason === null
          ? bank.add({ question: rollout.question!, label: verdicts.get(d)!.label!.answers[0]!, source, hops })
          : bank.refuse(reason);
      notes.push(proposalNote(d, place));
    }
  });
  return {
    kind: 'write',
    system: at.system,
    round: at.round,
    ...filled,
    verification: sumVerifications(verifications),
    ...cost(),
    rollouts: await putRollouts(context, notes),
    policy: at.policy,
  };
}
