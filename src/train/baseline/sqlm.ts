/**
 * One step of SQLM* (method.md section 7; rules in method/sqlm): the policy writes questions, answers each n times, and is
 * updated as solver on its own majorities; in every fifth step as proposer too, both in one optimizer step.
 */
import type { StateRef } from '../../engine.ts';
import { advantages } from '../../method/advantage.ts';
import { askingReward, proposerLearns } from '../../method/sqlm.ts';
import { mean } from '../../method/statistics.ts';
import type { StepRecord } from '../../record.ts';
import { type Context, environment } from '../context.ts';
import { costing } from '../cost.ts';
import { agreementOf } from '../grade.ts';
import { countBy, proposalNote, putRollouts, rolloutFigures } from '../measure.ts';
import { type Drafted, propose } from '../propose.ts';
import { type Trainee, warmRate } from '../trainee.ts';
import { answerNotes, writtenHops } from './notes.ts';
import { labelledOf, pollDrafts } from './polled.ts';
import type { Polled } from './vote.ts';

export interface SqlmStep {
  readonly system: string;
  readonly round: number;
  readonly step: number;
  readonly before: StateRef;
  /** Updates before this one: the optimizer's, and what every fifth is counted from. */
  readonly age: number;
}

export async function sqlmStep(given: Context, trainee: Trainee, at: SqlmStep): Promise<StepRecord> {
  const [context, cost] = costing(given);
  const { settings, matcher } = context;
  const { round, step, before } = at;
  const prompts = settings.questions;
  const place = { purpose: 'train', round, step, index: step * prompts, prompts, trajectories: 1 } as const;
  // Sources come round at the pace of this recipe: one prompt a question, in every step.
  const paced = { ...context, settings: { ...settings, proposerSteps: settings.solverSteps, prompts } };
  const drafted = await propose(paced, before.policy, place);
  const { usable, formed, polled, failed } = await pollDrafts(drafted, {
    key: `${settings.seed}/sqlm/${round}/${step}`,
    answers: settings.responses,
    env: await environment(context, before.policy, 'solver'),
    matcher,
  });
  const byDraft = new Map(formed.map((d, i) => [d, polled[i]!]));
  const answers = polled.flatMap(({ rollouts, feedback }, slot) =>
    rollouts.map((rollout, j) => ({ rollout, slot, reward: feedback?.matches[j] ? 1 : 0 })),
  );
  // By slot, never by text: a question that was written twice is two groups.
  const solving = advantages(
    answers.map(({ reward }) => reward),
    answers.map(({ slot }) => `slot ${slot}`),
  );
  const asked = usable.flatMap((d) => rewarded(d, byDraft.get(d)));
  const asking = advantages(
    asked.map(({ reward }) => reward),
    asked.map(() => 'all'),
  );
  const learns = proposerLearns(at.age);
  const { after, update, trained } = await trainee.update(before, {
    scored: answers.map(({ rollout }, i) => ({ rollout, advantage: solving.advantages[i]! })),
    role: 'solver',
    learningRate: warmRate(settings.solverRate, at.age, settings.warmupSteps),
    ...(learns
      ? {
          also: {
            scored: asked.map(({ d: { rollout } }, i) => ({ rollout, advantage: asking.advantages[i]! })),
            role: 'proposer',
          },
        }
      : {}),
  });
  const { labelled, placeOf } = labelledOf(polled);
  const earned = new Map(
    asked.map(({ d, reward }, i) => [d, { reward, advantage: learns ? asking.advantages[i]! : 0 }]),
  );
  const solved = answers.map(({ reward, slot }, i) => ({ slot, reward, advantage: solving.advantages[i]! }));
  const notes = [
    ...usable.map((d) => proposalNote(d, placeOf(byDraft.get(d)), earned.get(d))),
    ...polled.flatMap((own, slot) =>
      answerNotes(
        own,
        placeOf(own),
        solved.filter((s) => s.slot === slot),
      ),
    ),
  ];
  const reward = mean(answers.map((a) => a.reward));
  return {
    kind: 'step',
    phase: 'solver',
    system: at.system,
    round,
    step,
    auxiliary: null,
    feedback: labelled.map(({ feedback }) => feedback),
    reward: {
      mean: reward,
      parts: {
        match: reward,
        asking: mean(asked.map((a) => a.reward)),
        question: formed.length / Math.max(1, usable.length),
      },
    },
    agreement: agreementOf(labelled),
    counts: {
      trajectories: answers.length,
      formed: answers.filter(({ rollout }) => rollout.stop === 'answer').length,
      failed,
      idleGroups: solving.idle.length,
      groups: solving.idle.length + solving.trainable.length,
    },
    hops: countBy(drafted.map(({ hops }) => hops)),
    ...writtenHops(context.task, formed),
    rollout: rolloutFigures(answers.map(({ rollout }) => rollout)),
    update,
    verification: null,
    ...cost(trained),
    responses: answers.length / Math.max(1, formed.length),
    rollouts: await putRollouts(context, notes),
    before,
    after,
  };
}

/** A question whose answers were all lost says nothing about the proposal. */
function rewarded(d: Drafted, polled: Polled | undefined): { readonly d: Drafted; readonly reward: number }[] {
  if (polled === undefined) return [{ d, reward: 0 }];
  return polled.answers === 0 ? [] : [{ d, reward: askingReward(polled.votes, polled.answers) }];
}
