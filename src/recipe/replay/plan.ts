/**
 * What a replay fits and asks (method.md section 4, fixed-bank replay): a row per arm. Only the graders' ancestry differs
 * between the arms of one label rule, so arms that fit the same policy share it: same-source and crossfit ask different halves
 * of one pair, and the half budget is the full one after half its updates.
 */
import {
  assignedGrader,
  auxiliaryUpdates,
  FEEDBACK_PLANS,
  type FeedbackPlanName,
  fittedOn,
} from '../../method/feedback.ts';
import type { LabelRule } from '../../method/label.ts';
import type { Fold } from '../../types.ts';

export interface Arm {
  readonly name: string;
  readonly plan: FeedbackPlanName;
  readonly labels: LabelRule;
}

const PLANS = Object.keys(FEEDBACK_PLANS) as FeedbackPlanName[];

/** The six plans, and the two with verified labels that the paper replays; then the other four. */
export const ARMS: readonly Arm[] = [
  ...PLANS.map((plan): Arm => ({ name: plan, plan, labels: 'draft' })),
  ...PLANS.map((plan): Arm => ({ name: `msv+${plan}`, plan, labels: 'msv' })),
];

/** `--plans all`: the eight arms of the paper. */
export const PAPER_ARMS: readonly string[] = [...PLANS, 'msv+coupled', 'msv+crossfit'];

export interface Fit {
  /** Path in the journal; equal fits have equal names. */
  readonly name: string;
  /** Null: the main solver, which is fitted on everything. */
  readonly auxiliary: Fold | null;
  /** Places of the bank's questions it is fitted on. */
  readonly on: readonly number[];
  readonly updates: number;
  /** After so many updates its state is kept: some arm asks it then, whichever arms are asked for so far. */
  readonly marks: readonly number[];
}

interface Asked {
  readonly id: string;
  readonly source: string;
}

export interface Asking {
  readonly fit: Fit;
  /** Places of the questions that it is asked. */
  readonly asked: readonly number[];
}

/** The graders of an arm with what each is fitted on and asked. `updates` is the full budget of one grader. */
export function askings({ plan: name, labels }: Arm, bank: readonly Asked[], seed: number, updates: number): Asking[] {
  const plan = FEEDBACK_PLANS[name];
  const graders = bank.map((question) => assignedGrader(plan, seed, question));
  const places = (holds: (i: number) => boolean) => bank.flatMap((_, i) => (holds(i) ? [i] : []));
  if (plan.asked === 'main') {
    const on = places(() => true);
    return [{ fit: { name: `${labels}/main`, auxiliary: null, on, updates, marks: [updates] }, asked: on }];
  }
  const budgets = PLANS.map((own) => FEEDBACK_PLANS[own])
    .filter(({ split, fitted }) => split === plan.split && fitted === plan.fitted)
    .map((own) => auxiliaryUpdates(own, updates));
  const budget = auxiliaryUpdates(plan, updates);
  return ([0, 1] as const).map((auxiliary) => ({
    fit: {
      name: `${labels}/${plan.split}-${plan.fitted}-${auxiliary}`,
      auxiliary,
      on: places((i) => fittedOn(plan, seed, auxiliary, bank[i]!)),
      updates: budget[auxiliary],
      marks: budgets.map((own) => own[auxiliary]),
    },
    asked: places((i) => {
      const grader = graders[i]!;
      return grader !== 'main' && grader.auxiliary === auxiliary;
    }),
  }));
}
