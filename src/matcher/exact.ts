/** The default matcher: equal after normalisation. Transitive, reflexive on every non-blank answer. */
import type { Matcher } from '../matcher.ts';
import { normalize } from '../text/normalize.ts';

/** A text of nothing but punctuation stands for itself: otherwise it would not match itself, or would match every other one. */
export const answerKey = (answer: string): string => normalize(answer) || answer.trim();

export const exact: Matcher = {
  name: 'exact',
  match: async (pairs) => pairs.map(({ a, b }) => answerKey(a) !== '' && answerKey(a) === answerKey(b)),
};
