/**
 * Auditor `gold`: the reference came with the question, or was joined to it (method.md section 5). An answer is correct when
 * it matches one of the aliases; the matcher is the audit's own, so that M, P and S are one predicate.
 *
 * Where there is no reference but somebody's verdict on the label, only what follows from it is judged: a correct label is the
 * reference; a response that matches a wrong label is wrong, and any other one stays unresolved.
 */
import type { Auditor, AuditQuestion, Verdict } from '../auditor.ts';
import { anyMatch, type Match, type Matcher, type MatchPair } from '../matcher.ts';

export const goldAuditor = (matcher: Matcher): Auditor => ({
  name: 'gold',
  async judge(items) {
    const asked = items.map((item) => ({ item, right: rightAnswers(item) }));
    const pairs = asked.flatMap(({ item, right }) => pairsOf(item, right));
    const matches = await matcher.match(pairs);
    let at = 0;
    return asked.map(({ item, right }) => {
      const own = pairsOf(item, right).length;
      at += own;
      return verdictOf(item, right, matches.slice(at - own, at));
    });
  },
});

/** Aliases that responses are compared with; the wrong label itself where nothing else is known; null when nothing is. */
function rightAnswers({ label, references = [], labelVerdict }: AuditQuestion): readonly string[] | null {
  const given = references.filter((reference) => reference.trim() !== '');
  if (given.length > 0) return given;
  return labelVerdict === undefined ? null : [label];
}

const hasReference = ({ references = [] }: AuditQuestion): boolean => references.some((text) => text.trim() !== '');

/** The label's pairs first, then each response's; a response without an answer has none. */
const pairsOf = ({ question, label, responses }: AuditQuestion, right: readonly string[] | null): MatchPair[] =>
  right === null
    ? []
    : [label, ...responses].flatMap((answer) =>
        answer === null ? [] : right.map((b) => ({ question, a: answer, b })),
      );

function verdictOf(item: AuditQuestion, right: readonly string[] | null, matches: readonly Match[]): Verdict {
  if (right === null) return { resolved: false, why: 'no reference, and no verdict on the label' };
  let at = 0;
  const matched = (answer: string | null): Match => {
    if (answer === null) return false;
    at += right.length;
    return anyMatch(matches.slice(at - right.length, at));
  };
  const labelMatches = matched(item.label);
  const responseMatches = item.responses.map(matched);
  if (hasReference(item) || item.labelVerdict === true) {
    const labelCorrect = hasReference(item) ? labelMatches : true;
    if (labelCorrect === null) return { resolved: false, why: 'the matcher could not tell whether the label is right' };
    return { resolved: true, reference: right[0]!, labelCorrect, responseCorrect: responseMatches };
  }
  return {
    resolved: true,
    reference: '',
    labelCorrect: false,
    responseCorrect: responseMatches.map((same, j) => (same || item.responses[j] === null ? false : null)),
  };
}
