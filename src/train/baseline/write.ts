/** R-Zero's bank (method.md section 7): the challenger writes, the solver's majority is the label, the middle of p is kept. */
import { R_ZERO, refusal } from '../../method/r-zero.ts';
import type { WriteRecord } from '../../record.ts';
import { type Filling, fillBank } from '../bank.ts';
import { type Context, environment } from '../context.ts';
import { costing } from '../cost.ts';
import { countBy, proposalNote, putRollouts, type RolloutNote } from '../measure.ts';
import { metered } from '../usage.ts';
import { answerNotes } from './notes.ts';
import { pollDrafts } from './polled.ts';
import type { Polled } from './vote.ts';

const FILLING: Filling = {
  batch: 64,
  // Each costs ten answers.
  patience: 6,
  cause: 'the solver is sure of all of them or of none',
};

export async function writePolled(
  given: Context,
  at: { readonly system: string; readonly round: number; readonly policy: string; readonly solver: string },
): Promise<WriteRecord> {
  const [context, cost] = costing(given);
  const { settings, matcher } = context;
  const [labelling, spentLabelling] = metered(context);
  const env = await environment(labelling, at.solver, 'solver');
  const notes: RolloutNote[] = [];
  const polls: Polled[] = [];
  let changed = 0;
  const filled = await fillBank(context, at, FILLING, async (drafted, step, bank) => {
    const key = `${settings.seed}/poll write/${at.round}/${step}`;
    const { usable, formed, polled } = await pollDrafts(drafted, { key, answers: R_ZERO.answers, env, matcher });
    for (const d of drafted) {
      if (formed.includes(d)) continue;
      notes.push(proposalNote(d, bank.refuse(usable.includes(d) ? 'no_question' : 'outage')));
    }
    polls.push(...polled);
    for (const [i, own] of polled.entries()) {
      if (bank.isFull()) break;
      const { question, source, hops } = own.asked;
      const reason = refusalOf(own);
      const place =
        reason === null ? bank.add({ question, label: own.feedback!.label, source, hops }) : bank.refuse(reason);
      if (reason === null && own.feedback!.label !== formed[i]!.rollout.answer) changed++;
      notes.push(proposalNote(formed[i]!, place), ...answerNotes(own, place));
    }
  });
  const rollouts = polls.flatMap((own) => own.rollouts);
  return {
    kind: 'write',
    system: at.system,
    round: at.round,
    ...filled,
    verification: {
      candidates: polls.length,
      admitted: filled.bank.length,
      changed,
      refused: countBy(polls.flatMap((own) => refusalOf(own) ?? [])),
      generations: rollouts.length,
      searches: rollouts.reduce((sum, { searches }) => sum + searches, 0),
      usage: spentLabelling(),
    },
    ...cost(),
    rollouts: await putRollouts(context, notes),
    policy: at.policy,
  };
}

function refusalOf({ votes, answers, feedback }: Polled): string | null {
  if (answers === 0) return 'outage';
  return refusal(votes / answers) ?? (feedback === null ? 'no_majority' : null);
}
