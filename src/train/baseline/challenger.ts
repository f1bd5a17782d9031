/** One update of R-Zero's challenger (method.md section 7; rules in method/r-zero): questions the solver is unsure of, and new. */
import type { StateRef } from '../../engine.ts';
import { advantages } from '../../method/advantage.ts';
import { clusterShares } from '../../method/near-duplicate.ts';
import { challengerReward, R_ZERO, uncertainty } from '../../method/r-zero.ts';
import { mean } from '../../method/statistics.ts';
import type { StepRecord } from '../../record.ts';
import { type Context, environment } from '../context.ts';
import { costing } from '../cost.ts';
import { agreementOf } from '../grade.ts';
import { countBy, meanParts, proposalNote, putRollouts, rolloutFigures } from '../measure.ts';
import { propose } from '../propose.ts';
import { type Trainee, warmRate } from '../trainee.ts';
import { answerNotes, writtenHops } from './notes.ts';
import { labelledOf, pollDrafts } from './polled.ts';

export interface ChallengerStep {
  readonly system: string;
  readonly round: number;
  readonly step: number;
  readonly before: StateRef;
  /** Policy id of the solver of the round, which does not change meanwhile. */
  readonly solver: string;
}

export async function challengerStep(given: Context, trainee: Trainee, at: ChallengerStep): Promise<StepRecord> {
  const [context, cost] = costing(given);
  const { settings, matcher } = context;
  const { round, step, before } = at;
  const { prompts } = settings;
  const drafted = await propose(context, before.policy, {
    purpose: 'train',
    round,
    step,
    index: step * prompts,
    prompts,
    trajectories: 1,
  });
  const { usable, formed, polled, failed } = await pollDrafts(drafted, {
    key: `${settings.seed}/poll/${round}/${step}`,
    answers: R_ZERO.answers,
    env: await environment(context, at.solver, 'solver'),
    matcher,
  });
  const shares = clusterShares(formed.map((d) => d.rollout.question!));
  const polledOf = new Map(formed.map((d, i) => [d, { own: polled[i]!, cluster: shares[i]! }]));
  const members = usable.flatMap((d) => {
    const found = polledOf.get(d);
    if (found === undefined) return [{ d, reward: 0, parts: { uncertainty: 0, cluster: 0, question: 0 } }];
    const { own, cluster } = found;
    if (own.answers === 0) return [];
    const p = own.votes / own.answers;
    return [{ d, reward: challengerReward(p, cluster), parts: { uncertainty: uncertainty(p), cluster, question: 1 } }];
  });
  const {
    advantages: a,
    idle,
    trainable,
  } = advantages(
    members.map(({ reward }) => reward),
    members.map(() => 'all'),
  );
  const { after, update, trained } = await trainee.update(before, {
    scored: members.map(({ d }, i) => ({ rollout: d.rollout, advantage: a[i]! })),
    role: 'proposer',
    learningRate: warmRate(settings.proposerRate, (round - 1) * settings.proposerSteps + step, settings.warmupSteps),
  });
  const { labelled, placeOf } = labelledOf(polled);
  const earned = new Map(members.map(({ d, reward }, i) => [d, { reward, advantage: a[i]! }]));
  const notes = usable.flatMap((d) => {
    const own = polledOf.get(d)?.own;
    const place = placeOf(own);
    return [proposalNote(d, place, earned.get(d)), ...(own === undefined ? [] : answerNotes(own, place))];
  });
  const answers = polled.reduce((sum, own) => sum + own.answers, 0);
  return {
    kind: 'step',
    phase: 'proposer',
    system: at.system,
    round,
    step,
    auxiliary: null,
    feedback: labelled.map(({ feedback }) => feedback),
    reward: {
      mean: mean(members.map(({ reward }) => reward)),
      parts: meanParts(members.map(({ parts }) => parts)),
    },
    agreement: agreementOf(labelled),
    counts: {
      trajectories: drafted.length,
      formed: formed.length,
      failed,
      idleGroups: idle.length,
      groups: idle.length + trainable.length,
    },
    hops: countBy(drafted.map(({ hops }) => hops)),
    ...writtenHops(context.task, formed),
    rollout: rolloutFigures(usable.map(({ rollout }) => rollout)),
    update,
    verification: null,
    ...cost(trained),
    responses: answers / prompts,
    rollouts: await putRollouts(context, notes),
    before,
    after,
  };
}
