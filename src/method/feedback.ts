/**
 * Who grades the proposer (method.md section 4; CrossFit paper). A plan is a row with four columns: what is split between the
 * two auxiliary solvers, which of them is asked, what they are fitted on, and their budget of updates.
 *
 *   round 1: the main solver grades, under every plan
 *   round r + 1, crossfit: a question of fold h is graded by S_{1−h}, which trained only on sources of fold 1 − h
 *
 * Departure. [ours] Auxiliaries start from the base policy: anything else would carry labels of both folds.
 */
import type { Fold } from '../types.ts';
import { UserError } from '../util/error.ts';
import { foldOf, otherFold } from './fold.ts';

export interface FeedbackPlan {
  /** The unit that is dealt to part 0 or 1. `none`: there are no auxiliaries. */
  readonly split: 'none' | 'source' | 'question';
  readonly asked: 'main' | 'own' | 'other';
  /** What an auxiliary trains on. */
  readonly fitted: 'nothing' | 'own' | 'everything';
  /** Updates of both auxiliaries, as a share of twice the auxiliary's full A. */
  readonly budget: 0 | 0.5 | 1;
}

export const FEEDBACK_PLANS = {
  coupled: { split: 'none', asked: 'main', fitted: 'nothing', budget: 0 },
  crossfit: { split: 'source', asked: 'other', fitted: 'own', budget: 1 },
  'same-source': { split: 'source', asked: 'own', fitted: 'own', budget: 1 },
  'full-data': { split: 'source', asked: 'other', fitted: 'everything', budget: 1 },
  'random-question': { split: 'question', asked: 'other', fitted: 'own', budget: 1 },
  'half-budget': { split: 'source', asked: 'other', fitted: 'own', budget: 0.5 },
} as const satisfies Record<string, FeedbackPlan>;

export type FeedbackPlanName = keyof typeof FEEDBACK_PLANS;

export type Grader = 'main' | { readonly auxiliary: Fold };

/** `id` must name the question alone: two questions of one source have two ids. */
export interface Asked {
  readonly id: string;
  readonly source: string;
}

/** The part of the split that a question belongs to. */
const partOf = (plan: FeedbackPlan, seed: number, question: Asked): Fold =>
  plan.split === 'question' ? foldOf(seed, `question ${question.id}`) : foldOf(seed, question.source);

/** The grader a plan assigns once graders are fitted: in live rounds after the first, and in replay. */
export function assignedGrader(plan: FeedbackPlan, seed: number, question: Asked): Grader {
  const part = partOf(plan, seed, question);
  switch (plan.asked) {
    case 'main':
      return 'main';
    case 'own':
      return { auxiliary: part };
    case 'other':
      return { auxiliary: otherFold(part) };
    default:
      return plan.asked satisfies never;
  }
}

/** Rounds count from 1. */
export const graderOf = (plan: FeedbackPlan, seed: number, question: Asked, round: number): Grader =>
  round <= 1 ? 'main' : assignedGrader(plan, seed, question);

/** Does auxiliary `auxiliary` train on this admitted question? (The main solver trains on all of them, always.) */
export function fittedOn(plan: FeedbackPlan, seed: number, auxiliary: Fold, question: Asked): boolean {
  switch (plan.fitted) {
    case 'nothing':
      return false;
    case 'own':
      return partOf(plan, seed, question) === auxiliary;
    case 'everything':
      return true;
    default:
      return plan.fitted satisfies never;
  }
}

/** Updates a round of auxiliaries 0 and 1 where A is the full budget of one: half of A = 25 is 13 + 12. */
export function auxiliaryUpdates(plan: FeedbackPlan, full: number): readonly [number, number] {
  const total = Math.round(2 * plan.budget * full);
  return [Math.ceil(total / 2), Math.floor(total / 2)];
}

/** True when no grader may descend from a label of the source it grades: whole sources are split and the other part asked. */
export const promisesExclusion = (plan: FeedbackPlan): boolean =>
  plan.split === 'source' && plan.asked === 'other' && plan.fitted === 'own';

/** Sources of `questions` in the grader's ancestry, each once. Throws UserError with the names where the plan promises none. */
export function checkAncestry(
  name: string,
  plan: FeedbackPlan,
  grader: string,
  ancestors: ReadonlySet<string>,
  questions: readonly { readonly source: string }[],
): string[] {
  const overlap = [...new Set(questions.map((q) => q.source).filter((source) => ancestors.has(source)))];
  if (overlap.length > 0 && promisesExclusion(plan))
    throw new UserError(
      `plan "${name}" promises that a grader never trained on the sources it grades, but policy ${grader} descends from labels of ${overlap.join(', ')}; the run stops here. Start it again in another --run folder, and report it if it stops again`,
    );
  return overlap;
}
