/**
 * Auditor `gold`: the reference came with the question, or was joined to it (method.md section 5). An answer is correct when
 * it matches one of the aliases; the matcher is the audit's own, so that M, P and S are one predicate.
 *
 * Where there is no reference but somebody's verdict on the label, only what follows from it is judged: a correct label is the
 * reference; a response that matches a wrong label is wrong, and any other one stays unresolved.
 */
import type { Auditor, AuditQuestion, Verdict } from '../auditor.ts';
import { matchAnswers } from '../matcher/answers.ts';
import type { Match, Matcher } from '../matcher.ts';

export const goldAuditor = (matcher: Matcher): Auditor => ({
  name: 'gold',
  async judge(items) {
    const rights = items.map(rightAnswers);
    const found = await matchAnswers(
      matcher,
      items.map(({ question, label, responses }, i) => ({
        question,
        accepted: rights[i] ?? [],
        answers: [label, ...responses],
      })),
    );
    return items.map((item, i) => verdictOf(item, rights[i]!, found[i]!));
  },
});

/** Aliases that responses are compared with; the wrong label itself where nothing else is known; null when nothing is. */
function rightAnswers({ label, references = [], labelVerdict }: AuditQuestion): readonly string[] | null {
  const given = references.filter((reference) => reference.trim() !== '');
  if (given.length > 0) return given;
  return labelVerdict === undefined ? null : [label];
}

const hasReference = ({ references = [] }: AuditQuestion): boolean => references.some((text) => text.trim() !== '');

/** @param matches of the label, then of each response */
function verdictOf(
  item: AuditQuestion,
  right: readonly string[] | null,
  [labelMatches = null, ...responseMatches]: readonly Match[],
): Verdict {
  if (right === null) return { resolved: false, why: 'no reference, and no verdict on the label' };
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
