/** Verdicts on what a step graded. Each step is judged once, also where several systems share it. */
import type { Auditor, Verdict } from '../../auditor.ts';
import { pairsOf } from '../../method/agreement.ts';
import type { StepRecord } from '../../record.ts';
import type { AuditPair, Feedback } from '../../types.ts';
import type { Line } from '../rounds.ts';

export interface JudgedQuestion {
  readonly feedback: Feedback;
  readonly verdict: Verdict;
  /** None when the verdict is unresolved. */
  readonly pairs: readonly AuditPair[];
}

export interface JudgedStep extends Line<StepRecord> {
  /** In the order of the step's feedback. */
  readonly questions: readonly JudgedQuestion[];
}

export async function judgeStep(auditor: Auditor, line: Line<StepRecord>): Promise<JudgedStep> {
  const { feedback } = line.record;
  const verdicts = await auditor.judge(feedback);
  if (verdicts.length !== feedback.length)
    throw new Error(`auditor ${auditor.name} gave ${verdicts.length} verdicts on ${feedback.length} questions`);
  return {
    ...line,
    questions: feedback.map((asked, q) => {
      const verdict = verdicts[q]!;
      return { feedback: asked, verdict, pairs: pairsOf(asked, verdict) };
    }),
  };
}
