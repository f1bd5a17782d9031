/**
 * The majority among answers, where it stands in for a label (method.md section 7; SQLM, R-Zero):
 *
 *   votes_i = answers that match answer i, itself included        majority = the answer with the most votes
 *
 * Departure. [ours] Of several with the most votes, the earliest. [ours] An answer that nobody else gave has one vote and is
 * no label: otherwise the first of n different answers would be trained as the right one. The matcher need not be transitive.
 */
import { relation, unorderedPairs } from './label.ts';

export interface Vote {
  /** Place of the majority among the answers. */
  readonly index: number;
  readonly votes: number;
  /** Per answer: does it match the majority? A response without an answer does not. */
  readonly matches: readonly boolean[];
}

/** The different answers: a text matches itself, so only these need a matcher. */
const distinctAnswers = (answers: readonly (string | null)[]): readonly string[] => [
  ...new Set(answers.flatMap((answer) => answer ?? [])),
];

/**
 * `same[p]`: do the p-th `unorderedPairs` of the distinct answers mean the same? Null in `answers` is a response without an
 * answer; it votes for nothing. Null when there is no answer.
 */
export function vote(answers: readonly (string | null)[], same: readonly boolean[]): Vote | null {
  const distinct = distinctAnswers(answers);
  const table = relation(distinct.length, same);
  const place = new Map(distinct.map((text, d) => [text, d]));
  const matchesOf = (answer: string): boolean[] =>
    answers.map((other) => other !== null && table[place.get(answer)!]![place.get(other)!]!);
  let best: Vote | null = null;
  for (const [index, answer] of answers.entries()) {
    if (answer === null) continue;
    const matches = matchesOf(answer);
    const votes = matches.filter(Boolean).length;
    if (best === null || votes > best.votes) best = { index, votes, matches };
  }
  return best;
}

/** A vote that gives a label: at least two answers agree. */
export const isLabel = (found: Vote | null): found is Vote => found !== null && found.votes > 1;

export const answerPairs = (answers: readonly (string | null)[]): (readonly [string, string])[] => {
  const distinct = distinctAnswers(answers);
  return unorderedPairs(distinct.length).map(([i, j]) => [distinct[i]!, distinct[j]!] as const);
};
