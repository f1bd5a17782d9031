/** A meter of what a step asks a judge: the distinct pairs of its answers that its matcher cannot decide by itself. */
import type { Asked, Matcher, MatchPair } from '../matcher.ts';
import type { JudgeRequests } from '../record.ts';

/** The same context, its matcher with a meter; the function reads it. Steps may run side by side: each counts its own pairs. */
export function judging<C extends { readonly matcher: Matcher }>(context: C): readonly [C, () => JudgeRequests] {
  const { matcher } = context;
  const { asked } = matcher;
  if (asked === undefined) return [context, () => ({})];
  const all: MatchPair[] = [];
  const counted: Matcher = {
    ...matcher,
    match(pairs) {
      for (const pair of pairs) all.push(pair);
      return matcher.match(pairs);
    },
  };
  return [{ ...context, matcher: counted }, () => asked(all)];
}

/** What several records asked, in all. */
export const askedIn = (records: readonly JudgeRequests[]): Asked => ({
  judged: records.reduce((sum, { judged = 0 }) => sum + judged, 0),
  unread: records.reduce((sum, { unread = 0 }) => sum + unread, 0),
});
