/** Answers against what is accepted as right, in one call: a remote judge can batch it. */
import type { Match, Matcher } from '../matcher.ts';

export interface Answered {
  readonly question: string;
  /** Aliases: one that matches is enough. */
  readonly accepted: readonly string[];
  /** Null: no answer was given. */
  readonly answers: readonly (string | null)[];
}

/** Per question, one for each of its answers; a missing answer matches nothing. */
export async function matchAnswers(matcher: Matcher, asked: readonly Answered[]): Promise<Match[][]> {
  const pairs = asked.flatMap(({ question, accepted, answers }) =>
    answers.flatMap((a) => (a === null ? [] : accepted.map((b) => ({ question, a, b })))),
  );
  const found = await matcher.match(pairs);
  let at = 0;
  return asked.map(({ accepted, answers }) =>
    answers.map((answer): Match => {
      if (answer === null) return false;
      at += accepted.length;
      return anyOf(found.slice(at - accepted.length, at));
    }),
  );
}

/** Null where none matches and one is open. */
const anyOf = (matches: readonly Match[]): Match => {
  if (matches.includes(true)) return true;
  return matches.includes(null) ? null : false;
};
