/**
 * Supervised fine-tuning (method.md section 7): cross-entropy on trajectories that end in a gold answer. `sft` imitates turns
 * that answer at once, `rejection` the policy's own trajectories; of those, only tokens that it sampled count.
 */
import type { Dialect } from '../../dialect.ts';
import type { StateRef, Tokenizer } from '../../engine.ts';
import { drawQuestions } from '../../method/schedule.ts';
import type { BankItem, StepRecord } from '../../record.ts';
import type { Rollout } from '../../types.ts';
import type { Context } from '../context.ts';
import { answerNote, countBy, putRollouts, rolloutFigures } from '../measure.ts';
import { type Trainee, warmRate } from '../trainee.ts';
import { metered } from '../usage.ts';

/** A question and the trajectories to imitate; at least one. */
export interface Example {
  readonly item: BankItem;
  readonly rollouts: readonly Rollout[];
}

/** A trajectory that answers at once, as if it had been sampled. Null when it is longer than the policy reads. */
export function demonstration(
  { question, label }: BankItem,
  dialect: Dialect,
  tokenizer: Tokenizer,
  contextLength: number,
): Rollout | null {
  const prompt = tokenizer.encode(dialect.solverPrompt(question));
  const tokens = tokenizer.encode(dialect.answerTurn(question, label));
  if (prompt.length + tokens.length > contextLength) return null;
  const finish = { reason: 'stop' } as const;
  const parsed = dialect.parse(tokenizer.decode(tokens), finish, question);
  return {
    turns: [
      { kind: 'prompt', tokens: prompt },
      { kind: 'reply', tokens, logprobs: tokens.map(() => 0), finish, parsed },
    ],
    stop: 'answer',
    answer: label,
    question: null,
    searches: 0,
    malformedCall: false,
  };
}

export interface ImitateStep {
  readonly system: string;
  readonly round: number;
  readonly step: number;
  readonly before: StateRef;
  readonly examples: readonly Example[];
  /** Updates since the optimizer started. */
  readonly age: number;
}

export async function imitateStep(given: Context, trainee: Trainee, at: ImitateStep): Promise<StepRecord> {
  const [context, spent] = metered(given);
  const { settings } = context;
  const { round, step, before } = at;
  const size = Math.min(settings.questions, at.examples.length);
  const places = drawQuestions(at.examples.length, size, { seed: settings.seed, purpose: 'imitate', round, step });
  const batch = places.map((i) => at.examples[i]!);
  const all = batch.flatMap(({ item, rollouts }, slot) =>
    rollouts.map((rollout, attempt) => ({ item, slot, attempt, rollout })),
  );
  const { after, update, trained } = await trainee.update(before, {
    scored: all.map(({ rollout }) => ({ rollout, advantage: 1 })),
    role: 'solver',
    learningRate: warmRate(settings.solverRate, at.age, settings.warmupSteps),
    loss: 'cross_entropy',
  });
  const notes = all.map(({ item, slot, attempt, rollout }) =>
    answerNote(item, rollout, { feedback: slot, attempt, reward: 1, advantage: 1 }),
  );
  return {
    kind: 'step',
    phase: 'solver',
    system: at.system,
    round,
    step,
    auxiliary: null,
    // Nobody was asked: the labels are named for the policy's descent.
    feedback: batch.map(({ item: { question, source, hops, label } }) => ({
      question,
      source,
      hops,
      label,
      grader: before.policy,
      responses: [],
      matches: [],
    })),
    reward: { mean: 1, parts: { match: 1 } },
    agreement: null,
    counts: { trajectories: all.length, formed: all.length, failed: 0, idleGroups: 0, groups: batch.length },
    hops: countBy(batch.map(({ item }) => item.hops)),
    rollout: rolloutFigures(all.map(({ rollout }) => rollout)),
    update,
    verification: null,
    usage: { ...spent(), trained },
    responses: all.length / batch.length,
    rollouts: await putRollouts(context, notes),
    before,
    after,
  };
}
