/** R-Zero's bank (method.md section 7): the challenger writes, the solver's majority is the label, the middle of p is kept. */
import { R_ZERO, refusal } from '../../method/r-zero.ts';
import type { BankItem, WriteRecord } from '../../record.ts';
import { UserError } from '../../util/error.ts';
import { type Context, environment } from '../context.ts';
import { costing } from '../cost.ts';
import { countBy, proposalNote, putRollouts, type RolloutNote } from '../measure.ts';
import { propose } from '../propose.ts';
import { metered } from '../usage.ts';
import { answerNotes } from './notes.ts';
import { type Polled, poll } from './vote.ts';

const BATCH = 64;
/** Gives up after this many proposals per wanted question: each costs ten answers. */
const PATIENCE = 6;

export async function writePolled(
  given: Context,
  at: { readonly system: string; readonly round: number; readonly policy: string; readonly solver: string },
): Promise<WriteRecord> {
  const [context, cost] = costing(given);
  const { settings, matcher } = context;
  const { seed, admitted } = settings;
  const [labelling, spentLabelling] = metered(context);
  const env = await environment(labelling, at.solver, 'solver');
  const bank: BankItem[] = [];
  const refused: string[] = [];
  const notes: RolloutNote[] = [];
  const polls: Polled[] = [];
  let [tried, changed] = [0, 0];
  for (let step = 0; bank.length < admitted && tried < PATIENCE * admitted; step++) {
    const prompts = Math.min(BATCH, admitted);
    const drafted = await propose(context, at.policy, {
      purpose: 'write',
      round: at.round,
      step,
      index: tried,
      prompts,
      trajectories: 1,
    });
    tried += prompts;
    const usable = drafted.filter((d) => d.rollout.stop !== 'error');
    const formed = usable.filter((d) => d.rollout.question !== null);
    for (const d of drafted) {
      if (formed.includes(d)) continue;
      refused.push(usable.includes(d) ? 'no_question' : 'outage');
      notes.push(proposalNote(d, null));
    }
    const polled = await poll(
      formed.map((d, i) => ({
        question: d.rollout.question!,
        source: d.source,
        hops: d.hops,
        key: `${seed}/poll write/${at.round}/${step}/${i}`,
      })),
      R_ZERO.answers,
      env,
      matcher,
    );
    polls.push(...polled);
    for (const [i, own] of polled.entries()) {
      if (bank.length >= admitted) break;
      const { question, source, hops } = own.asked;
      const reason = refusalOf(own);
      if (reason !== null) refused.push(reason);
      else {
        const { label } = own.feedback!;
        if (label !== formed[i]!.rollout.answer) changed++;
        bank.push({ id: `${at.system}/${at.round}/${bank.length}`, question, label, source, hops });
      }
      const place = reason === null ? bank.length - 1 : null;
      notes.push(proposalNote(formed[i]!, place), ...answerNotes(own, place));
    }
  }
  if (bank.length === 0) {
    const why = Object.entries(countBy(refused)).map(([reason, n]) => `${n} ${reason}`);
    throw new UserError(
      `round ${at.round} of ${at.system}: none of ${tried} questions was kept (${why.join(', ')}); the solver is sure of all of them or of none: see "crossfold show RUN --rollouts", or use another --policy`,
    );
  }
  const rollouts = polls.flatMap((own) => own.rollouts);
  return {
    kind: 'write',
    system: at.system,
    round: at.round,
    bank,
    tried,
    refused: countBy(refused),
    verification: {
      candidates: polls.length,
      admitted: bank.length,
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
