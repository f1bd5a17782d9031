/** Rejection sampling (method.md section 7): n trajectories a gold question, graded; the correct ones are kept. No update. */
import type { StateRef } from '../../engine.ts';
import { drawQuestions } from '../../method/schedule.ts';
import { mean } from '../../method/statistics.ts';
import type { BankItem, StepRecord } from '../../record.ts';
import { UserError } from '../../util/error.ts';
import { groupBy } from '../../util/group.ts';
import { type Context, environment } from '../context.ts';
import { costing } from '../cost.ts';
import { agreementOf, type Graded, grade } from '../grade.ts';
import { answerNote, countBy, getRollouts, putRollouts, rolloutFigures } from '../measure.ts';
import type { Example } from './imitate.ts';

/** Questions asked at once: what an engine caches for them must fit in memory. */
const BATCH = 64;

export interface SampleStep {
  readonly system: string;
  readonly round: number;
  readonly before: StateRef;
  readonly bank: readonly BankItem[];
}

/** The questions of a round's sampling, in order. */
const drawn = ({ settings: { seed, admitted } }: Context, { round, bank }: SampleStep): BankItem[] =>
  drawQuestions(bank.length, Math.min(admitted, bank.length), { seed, purpose: 'sample', round, step: 0 }).map(
    (i) => bank[i]!,
  );

export async function sampleStep(given: Context, at: SampleStep): Promise<StepRecord> {
  const [context, cost] = costing(given);
  const { settings, matcher } = context;
  const { round, before } = at;
  const items = drawn(context, at);
  const env = await environment(context, before.policy, 'solver');
  const graded: Graded[] = [];
  for (let from = 0; from < items.length; from += BATCH) {
    const part = items.slice(from, from + BATCH);
    const askings = part.map((item, i) => ({ ...item, key: `${settings.seed}/sample/${round}/${from + i}` }));
    graded.push(...(await grade(askings, settings.responses, env, matcher)));
  }
  const notes = graded.flatMap(({ feedback, rollouts }, slot) =>
    rollouts.map((rollout, attempt) =>
      answerNote(feedback, rollout, { feedback: slot, attempt, reward: feedback.matches[attempt] ? 1 : 0 }),
    ),
  );
  const reward = mean(notes.map((note) => note.reward!));
  const kept = graded.filter(({ feedback }) => feedback.matches.includes(true)).length;
  return {
    kind: 'step',
    phase: 'solver',
    system: at.system,
    round,
    step: 0,
    auxiliary: null,
    feedback: graded.map(({ feedback }) => feedback),
    reward: { mean: reward, parts: { match: reward, kept: kept / items.length } },
    agreement: agreementOf(graded),
    counts: {
      trajectories: notes.length,
      formed: notes.filter(({ rollout }) => rollout.stop === 'answer').length,
      failed: graded.reduce((sum, { failed }) => sum + failed, 0),
      idleGroups: items.length - kept,
      groups: items.length,
    },
    hops: countBy(items.map(({ hops }) => hops)),
    rollout: rolloutFigures(notes.map(({ rollout }) => rollout)),
    update: { loss: 0, gradNorm: 0, learningRate: 0, klSamplerTrainer: 0, trajectories: notes.length, trained: 0 },
    verification: null,
    ...cost(),
    responses: notes.length / items.length,
    rollouts: await putRollouts(context, notes),
    before,
    after: before,
  };
}

/** The correct trajectories of a sampling, read back from what was written. UserError: there are none. */
export async function keptExamples(
  context: Context,
  at: SampleStep,
  { rollouts, system, round }: StepRecord,
): Promise<Example[]> {
  const items = drawn(context, at);
  const right = (await getRollouts(context, rollouts)).filter(({ reward }) => reward === 1);
  const bySlot = groupBy(right, ({ feedback }) => feedback!);
  if (bySlot.size === 0) {
    throw new UserError(
      `round ${round} of ${system}: none of ${items.length} questions was answered correctly, so there is nothing to imitate; use easier --train questions, or another --policy`,
    );
  }
  return [...bySlot].map(([slot, own]) => ({ item: items[slot]!, rollouts: own.map(({ rollout }) => rollout) }));
}
