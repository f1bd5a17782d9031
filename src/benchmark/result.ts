/**
 * What one question of an exam came to, and a whole evaluation: items, and the fingerprint of how they were made. An item
 * that an outage took (`stop` is "error") has no score: it is in no denominator, and it makes its evaluation incomplete.
 */
import type { Attempt } from '../strategy.ts';
import { type Scores, score } from '../text/score.ts';
import { UserError } from '../util/error.ts';

/** One question of an exam. */
export interface ExamQuestion {
  readonly id: string;
  /** Name of its set: one of the seven, or any other. */
  readonly set: string;
  readonly question: string;
  /** Accepted answers; at least one. */
  readonly golden: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a system did with a question. */
export type Outcome = Omit<Attempt, 'turns' | 'rollout'>;

/** Without what else the attempt has, in the order of the records. */
export const outcomeOf = (attempt: Outcome): Outcome => {
  const { prediction, searches, emptySearches, emptyReplies, stop, error } = attempt;
  return {
    prediction,
    searches,
    ...(emptySearches === undefined ? {} : { emptySearches }),
    ...(emptyReplies === undefined ? {} : { emptyReplies }),
    stop,
    ...(error === undefined ? {} : { error }),
  };
};

/** One line of results.jsonl. The scores of a failed item are 0 and mean nothing. */
export interface ItemResult extends Outcome, Scores {
  readonly id: string;
  readonly set: string;
  readonly question: string;
  readonly golden: readonly string[];
}

/** How an evaluation was made. Keys that may differ between two that are compared: see compare.ts. */
export type Fingerprint = Readonly<Record<string, string | number>>;

export interface EvaluationResult {
  readonly fingerprint: Fingerprint;
  /** In the order of the manifest. */
  readonly items: readonly ItemResult[];
  /** Questions of the manifest. */
  readonly expected: number;
  /** Every question of the manifest has an item, and none of them failed. */
  readonly complete: boolean;
}

export function scoreItem({ id, set, question, golden }: ExamQuestion, outcome: Outcome): ItemResult {
  const { prediction, ...rest } = outcomeOf(outcome);
  const scores = score(failed(outcome) ? '' : (prediction ?? ''), golden);
  return { id, set, question, golden, prediction, ...scores, ...rest };
}

export const failed = (item: Pick<ItemResult, 'stop'>): boolean => item.stop === 'error';

/**
 * Puts items beside the questions they answer, in the order of the questions. Questions without an item make it
 * incomplete. Throws UserError for an id that occurs twice or that no question has.
 */
export function evaluationOf(
  fingerprint: Fingerprint,
  items: readonly ItemResult[],
  questions: readonly Pick<ExamQuestion, 'id'>[],
): EvaluationResult {
  const byId = new Map<string, ItemResult>();
  const asked = new Set(questions.map(({ id }) => id));
  for (const item of items) {
    const id = JSON.stringify(item.id);
    if (byId.has(item.id)) throw new UserError(`The results hold ${id} twice; expected one result a question.`);
    if (!asked.has(item.id)) throw new UserError(`The results hold ${id}, which is no question of the manifest.`);
    byId.set(item.id, item);
  }
  const ordered = [...asked].flatMap((id) => byId.get(id) ?? []);
  return { fingerprint, items: ordered, expected: asked.size, complete: isComplete(ordered, asked.size) };
}

export const isComplete = (items: readonly ItemResult[], expected: number): boolean =>
  items.length === expected && !items.some(failed);
