/** The proposer writes questions until enough are admitted (method.md section 1): the bank of a round. */
import type { LabelRule } from '../method/label.ts';
import type { BankItem, VerificationRecord, WriteRecord } from '../record.ts';
import { UserError } from '../util/error.ts';
import type { Context } from './context.ts';
import { costing } from './cost.ts';
import { countBy, proposalNote, putRollouts, type RolloutNote } from './measure.ts';
import { propose } from './propose.ts';
import { candidateOf, sumVerifications, verifierNotes, verifyAll } from './verify.ts';

const BATCH = 128;
/** Gives up after this many proposals per wanted question. */
const PATIENCE = 20;

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
  const { settings } = context;
  const bank: BankItem[] = [];
  const refused: string[] = [];
  const notes: RolloutNote[] = [];
  const verifications: VerificationRecord[] = [];
  let tried = 0;
  for (let step = 0; bank.length < settings.admitted && tried < PATIENCE * settings.admitted; step++) {
    const prompts = Math.min(BATCH, settings.admitted);
    const drafted = await propose(context, at.policy, {
      purpose: 'write',
      round: at.round,
      step,
      index: tried,
      prompts,
      trajectories: 1,
    });
    tried += prompts;
    const open = drafted.filter((d) => d.rollout.stop !== 'error' && d.format.gate === null);
    const candidates = open.map((d, i) => candidateOf(d, `${settings.seed}/verify write/${at.round}/${step}/${i}`));
    const { verified, record } = await verifyAll(at.labels, context, at.mainSolver, candidates);
    if (record !== null) verifications.push(record);
    notes.push(...verifierNotes(candidates, verified));
    const verdicts = new Map(open.map((d, c) => [d, verified[c]!]));
    for (const d of drafted) {
      if (bank.length >= settings.admitted) break;
      const { rollout, source, hops, format } = d;
      const reason = rollout.stop === 'error' ? 'outage' : (format.gate ?? verdicts.get(d)!.reason);
      if (reason !== null) refused.push(reason);
      else {
        const label = verdicts.get(d)!.label!.answers[0]!;
        bank.push({ id: `${at.system}/${at.round}/${bank.length}`, question: rollout.question!, label, source, hops });
      }
      notes.push(proposalNote(d, reason === null ? bank.length - 1 : null));
    }
  }
  if (bank.length === 0) {
    const why = Object.entries(countBy(refused)).map(([reason, n]) => `${n} ${reason}`);
    throw new UserError(
      `round ${at.round} of ${at.system}: none of ${tried} proposals was admitted (${why.join(', ')}); the policy does not write this task's questions: see "crossfold show RUN --rollouts", or use another --policy`,
    );
  }
  return {
    kind: 'write',
    system: at.system,
    round: at.round,
    bank,
    tried,
    refused: countBy(refused),
    verification: sumVerifications(verifications),
    ...cost(),
    rollouts: await putRollouts(context, notes),
    policy: at.policy,
  };
}
