/**
 * Label rules: what a question must pass to be admitted, and the label it is then trained with (method.md section 3;
 * CrossFit paper, MSV).
 *
 *   draft  the proposer's own answer
 *   msv    3 source-aware and 3 source-blind answers of the main solver; admit iff both views have a majority and the
 *          majorities match; the label is the source-aware one. Neither view sees the draft.
 *
 *   Maj(view) = an answer that at least 2 of its 3 match, itself included
 *
 * Departure. [ours] Tie rule: of the answers that qualify, the earliest. The matcher need not be transitive.
 */
import type { Label } from '../types.ts';

const VIEW = 3;

/** `generations` a candidate costs. */
export const LABEL_RULES = {
  draft: { aware: 0, blind: 0, generations: 0 },
  msv: { aware: VIEW, blind: VIEW, generations: 2 * VIEW },
} as const;

export type LabelRule = keyof typeof LABEL_RULES;

export const draftLabel = (answer: string): Label => ({ answers: [answer], from: 'proposer' });

export type Verification =
  | { readonly admitted: true; readonly label: Label }
  | { readonly admitted: false; readonly reason: 'no_aware_majority' | 'no_blind_majority' | 'majorities_differ' };

/**
 * `answers`: the source-aware answers, then the source-blind ones; null is a response without an answer and matches
 * nothing. `matches[i][j]`: do answers i and j mean the same? Symmetric, reflexive on answers.
 */
export function verify(answers: readonly (string | null)[], matches: readonly (readonly boolean[])[]): Verification {
  if (answers.length !== 2 * VIEW) throw new Error(`MSV reads ${2 * VIEW} answers, got ${answers.length}`);
  const aware = majority(answers, matches, 0);
  if (aware === null) return { admitted: false, reason: 'no_aware_majority' };
  const blind = majority(answers, matches, VIEW);
  if (blind === null) return { admitted: false, reason: 'no_blind_majority' };
  if (!matches[aware]![blind]) return { admitted: false, reason: 'majorities_differ' };
  return { admitted: true, label: { answers: [answers[aware]!], from: 'verified' } };
}

/** Index of the earliest answer of the view starting at `first` that at least 2 of its 3 match. */
function majority(
  answers: readonly (string | null)[],
  matches: readonly (readonly boolean[])[],
  first: number,
): number | null {
  const view = [first, first + 1, first + 2];
  const agrees = (i: number, j: number) => answers[i] != null && answers[j] != null && (i === j || matches[i]![j]!);
  return view.find((i) => view.filter((j) => agrees(i, j)).length >= 2) ?? null;
}

/** The pairs (i, j), i < j, whose matches `relation` needs, in its order. */
export const unorderedPairs = (n: number): (readonly [number, number])[] =>
  Array.from({ length: n }, (_, i) => i).flatMap((i) =>
    Array.from({ length: n - i - 1 }, (_, d) => [i, i + 1 + d] as const),
  );

/** The n × n matrix of a reflexive, symmetric relation from its `unorderedPairs`. */
export function relation(n: number, matches: readonly boolean[]): boolean[][] {
  const out = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => i === j));
  unorderedPairs(n).forEach(([i, j], p) => {
    out[i]![j] = out[j]![i] = matches[p]!;
  });
  return out;
}
