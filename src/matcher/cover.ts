/**
 * The lenient matcher: one answer contains the other as whole words, in either direction (symmetric, not transitive).
 * [ours] Whole words, unlike the Cover-EM score: as a reward, a character-level match would pay for single letters.
 */
import type { Matcher } from '../matcher.ts';
import { containsWords } from '../text/score.ts';
import { answerKey } from './exact.ts';

export const cover: Matcher = {
  name: 'cover',
  match: async (pairs) =>
    pairs.map(({ a, b }) => {
      const [x, y] = [answerKey(a), answerKey(b)];
      return containsWords(x, y) || containsWords(y, x);
    }),
};
