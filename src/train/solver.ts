/** One solver update: n responses to each question of a batch, reward 1 for a match with the label, GRPO (method.md section 1). */
import type { StateRef } from '../engine.ts';
import { advantages } from '../method/advantage.ts';
import { drawQuestions } from '../method/schedule.ts';
import { mean } from '../method/statistics.ts';
import type { BankItem, StepRecord } from '../record.ts';
import { type Context, environment } from './context.ts';
import { costing } from './cost.ts';
import { agreementOf, grade } from './grade.ts';
import { answerNote, countBy, putRollouts, solverFigures } from './measure.ts';
import { type Trainee, warmRate } from './trainee.ts';

export interface SolverStep {
  readonly system: string;
  readonly round: number;
  readonly step: number;
  /** Null: the main solver. */
  readonly auxiliary: 0 | 1 | null;
  readonly before: StateRef;
  readonly bank: readonly BankItem[];
  /** Updates since this solver's optimizer started. */
  readonly age: number;
}

export async function solverStep(given: Context, trainee: Trainee, at: SolverStep): Promise<StepRecord> {
  const [context, cost] = costing(given);
  const { settings, matcher } = context;
  const { round, step, before } = at;
  const purpose = at.auxiliary === null ? 'solver' : `auxiliary ${at.auxiliary}`;
  const size = Math.min(settings.questions, at.bank.length);
  const batch = drawQuestions(at.bank.length, size, { seed: settings.seed, purpose, round, step }).map(
    (i) => at.bank[i]!,
  );
  const graded = await grade(
    batch.map(({ question, label, aliases, source, hops }, slot) => ({
      question,
      label,
      aliases,
      source,
      hops,
      key: `${settings.seed}/${purpose}/${round}/${step}/${slot}`,
    })),
    settings.responses,
    await environment(context, before.policy, 'solver'),
    matcher,
  );
  const all = graded.flatMap(({ rollouts, feedback }, slot) =>
    rollouts.map((rollout, attempt) => ({ rollout, slot, attempt, reward: feedback.matches[attempt] ? 1 : 0 })),
  );
  // By slot, never by text: a question that a batch holds twice is two groups.
  const {
    advantages: a,
    idle,
    trainable,
  } = advantages(
    all.map((r) => r.reward),
    all.map((r) => `slot ${r.slot}`),
  );
  const { after, update, trained } = await trainee.update(before, {
    scored: all.map((r, i) => ({ rollout: r.rollout, advantage: a[i]! })),
    role: 'solver',
    learningRate: warmRate(settings.solverRate, at.age, settings.warmupSteps),
  });
  const notes = all.map(({ rollout, slot, attempt, reward }, i) =>
    answerNote(batch[slot]!, rollout, { feedback: slot, attempt, reward, advantage: a[i]! }),
  );
  const reward = mean(all.map((r) => r.reward));
  return {
    kind: 'step',
    phase: at.auxiliary === null ? 'solver' : 'auxiliary',
    system: at.system,
    round,
    step,
    auxiliary: at.auxiliary,
    feedback: graded.map((g) => g.feedback),
    reward: { mean: reward, parts: { match: reward } },
    agreement: agreementOf(graded),
    counts: {
      trajectories: all.length,
      formed: all.filter((r) => r.rollout.stop === 'answer').length,
      failed: graded.reduce((sum, g) => sum + g.failed, 0),
      idleGroups: idle.length,
      groups: idle.length + trainable.length,
    },
    hops: countBy(batch.map((q) => q.hops)),
    rollout: solverFigures(
      all.map((r) => r.rollout),
      all.filter((r) => r.reward === 1).map((r) => r.rollout),
    ),
    update,
    verification: null,
    ...cost(trained),
    responses: all.length / Math.max(1, batch.length),
    rollouts: await putRollouts(context, notes),
    before,
    after,
  };
}
