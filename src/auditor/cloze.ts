/**
 * Auditor `cloze`: the reference is the span that really fills the blank in the source (method.md section 5). A question
 * that cannot be laid over one sentence of its source stays unresolved. Answers are compared exactly, after normalisation.
 */
import type { Auditor, AuditQuestion, Verdict } from '../auditor.ts';
import { answerKey } from '../matcher/exact.ts';
import { alignBlank } from '../text/cloze/align.ts';
import type { Passage } from '../types.ts';
import { groupBy } from '../util/group.ts';

/** @param passages what the proposer was shown of each source. */
export function clozeAuditor(passages: readonly Passage[]): Auditor {
  const bySource = groupBy(passages, ({ source }) => source);
  return {
    name: 'cloze',
    judge: async (items) => items.map((item) => judgeOne(item, bySource.get(item.source) ?? [])),
  };
}

function judgeOne({ question, label, responses }: AuditQuestion, passages: readonly Passage[]): Verdict {
  const aligned = alignBlank(
    question,
    passages.map(({ text }) => text),
  );
  if (!aligned.found) return { resolved: false, why: aligned.why };
  const key = answerKey(aligned.span);
  const isRight = (answer: string | null): boolean => answer !== null && answerKey(answer) === key;
  return {
    resolved: true,
    reference: aligned.span,
    labelCorrect: isRight(label),
    responseCorrect: responses.map(isRight),
  };
}
