/** One proposer update: write, have the feedback solver answer, reward by difficulty and format, HRPO (method.md section 1). */
import type { StateRef } from '../engine.ts';
import { advantages, ESTIMATORS } from '../method/advantage.ts';
import type { LabelRule } from '../method/label.ts';
import { proposerReward } from '../method/proposer-reward.ts';
import { mean } from '../method/statistics.ts';
import type { StepRecord } from '../record.ts';
import { type Context, environment } from './context.ts';
import { costing } from './cost.ts';
import { agreementOf, type Graded, grade } from './grade.ts';
import {
  answerNote,
  countBy,
  type Earned,
  meanParts,
  proposalNote,
  putRollouts,
  type RolloutNote,
  rolloutFigures,
} from './measure.ts';
import { type Drafted, propose } from './propose.ts';
import { type Trainee, warmRate } from './trainee.ts';
import { candidateOf, verifierNotes, verifyAll } from './verify.ts';

export interface ProposerStep {
  readonly system: string;
  readonly round: number;
  readonly step: number;
  readonly before: StateRef;
  /** Policy id of the solver that grades a question of this source. */
  readonly graderOf: (question: { readonly id: string; readonly source: string }) => string;
  readonly labels: LabelRule;
  /** Policy id of the round's main solver, which verifies under MSV. */
  readonly mainSolver: string;
  /** Called with a grader and its questions before they are asked: the ancestry check. */
  readonly check: (grader: string, questions: readonly Drafted[]) => void;
}

interface Asked {
  readonly d: Drafted;
  /** The adopted label. */
  readonly label: string;
}

export async function proposerStep(given: Context, trainee: Trainee, at: ProposerStep): Promise<StepRecord> {
  const [context, cost] = costing(given);
  const { settings } = context;
  const { round, step } = at;
  const estimator = ESTIMATORS[settings.estimator];
  const drafted = await propose(context, at.before.policy, {
    purpose: 'train',
    round,
    step,
    index: step * settings.prompts,
    prompts: settings.prompts,
    trajectories: estimator.trajectories,
  });
  const usable = drafted.filter((d) => d.rollout.stop !== 'error');
  const open = usable.filter((d) => d.format.gate === null);
  const candidates = open.map((d, i) => candidateOf(d, `${settings.seed}/verify/${round}/${step}/${i}`));
  const { verified, record: verification } = await verifyAll(at.labels, context, at.mainSolver, candidates);
  const asked = open.flatMap((d, c): Asked[] => {
    const label = verified[c]!.label;
    return label === null ? [] : [{ d, label: label.answers[0]! }];
  });
  const graded = await gradeAll(context, asked, at);

  // Null leaves the group (gate "drop").
  const rewards = usable.map((d) => proposerReward(d.format, graded.get(d)?.feedback.matches ?? [], settings.reward));
  const members = usable.flatMap((d, i) => (rewards[i] === null ? [] : [{ d, reward: rewards[i]! }]));
  const {
    advantages: a,
    idle,
    trainable,
  } = advantages(
    members.map((m) => m.reward.total),
    members.map(({ d }) => estimator.group(d)),
  );
  const { after, update, trained } = await trainee.update(at.before, {
    scored: members.map(({ d }, i) => ({ rollout: d.rollout, advantage: a[i]! })),
    role: 'proposer',
    learningRate: warmRate(settings.proposerRate, (round - 1) * settings.proposerSteps + step, settings.warmupSteps),
  });
  const feedback = asked.map(({ d }) => graded.get(d)!);
  const member = new Map(members.map((m, i) => [m.d, { reward: m.reward.total, advantage: a[i]! }]));
  const index = new Map(asked.map(({ d }, i) => [d, i]));
  const notes = [
    ...usable.flatMap((d) => notesOf(d, graded.get(d), index.get(d) ?? null, member.get(d))),
    ...verifierNotes(candidates, verified),
  ];
  return {
    kind: 'step',
    phase: 'proposer',
    system: at.system,
    round,
    step,
    auxiliary: null,
    feedback: feedback.map((g) => g.feedback),
    reward: {
      mean: mean(members.map((m) => m.reward.total)),
      parts: meanParts(members.map((m) => m.reward.parts)),
    },
    agreement: agreementOf(feedback),
    counts: {
      trajectories: drafted.length,
      formed: candidates.length,
      failed: drafted.length - usable.length + feedback.reduce((sum, g) => sum + g.failed, 0),
      idleGroups: idle.length,
      groups: idle.length + trainable.length,
    },
    hops: countBy(drafted.map((d) => d.hops)),
    rollout: rolloutFigures(usable.map((d) => d.rollout)),
    update,
    verification,
    ...cost(trained),
    responses: feedback.reduce((sum, g) => sum + g.rollouts.length, 0) / settings.prompts,
    rollouts: await putRollouts(context, notes),
    before: at.before,
    after,
  };
}

/** Asks each grader about its questions, one batch a grader. */
async function gradeAll(context: Context, asked: readonly Asked[], at: ProposerStep): Promise<Map<Drafted, Graded>> {
  const { settings, matcher } = context;
  const named = asked.map(({ d, label }, i) => ({ d, label, i, id: `${at.system}/${at.round}/${at.step}/${i}` }));
  const graders = named.map(({ d, id }) => at.graderOf({ id, source: d.source }));
  const out = new Map<Drafted, Graded>();
  for (const grader of [...new Set(graders)]) {
    const mine = named.filter((_, k) => graders[k] === grader);
    at.check(
      grader,
      mine.map(({ d }) => d),
    );
    const graded = await grade(
      mine.map(({ d, label, i }) => ({
        question: d.rollout.question!,
        label,
        source: d.source,
        hops: d.hops,
        key: `${settings.seed}/feedback/${at.round}/${at.step}/${i}`,
      })),
      settings.responses,
      await environment(context, grader, 'solver'),
      matcher,
    );
    for (const [k, { d }] of mine.entries()) out.set(d, graded[k]!);
  }
  return out;
}

/** A proposal and the answers to it. `feedback` is its place in the step's feedback. */
function notesOf(
  d: Drafted,
  graded: Graded | undefined,
  feedback: number | null,
  member: Earned | undefined,
): RolloutNote[] {
  const answers = (graded?.rollouts ?? []).map((rollout, attempt) =>
    answerNote(graded!.feedback, rollout, { feedback, attempt, reward: graded!.feedback.matches[attempt] ? 1 : 0 }),
  );
  return [proposalNote(d, feedback, member), ...answers];
}
