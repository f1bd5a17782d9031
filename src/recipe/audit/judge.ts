/** Verdicts on what a step graded. Each step is judged once, also where several systems share it. */
import type { Auditor, AuditQuestion, Verdict } from '../../auditor.ts';
import { pairsOf } from '../../method/agreement.ts';
import type { StepRecord } from '../../record.ts';
import type { AuditPair, Feedback } from '../../types.ts';
import type { Line } from '../rounds.ts';

/** A question with its label, responses and matches: of a run, or of a log. */
export type Graded = AuditQuestion & Pick<Feedback, 'matches'>;

export interface Judged<F extends Graded> {
  readonly feedback: F;
  readonly verdict: Verdict;
  /** None when the verdict is unresolved. */
  readonly pairs: readonly AuditPair[];
}

/** What the measures of a step are computed from. */
export interface StepOf<F extends Graded> {
  /** In the order of the step's feedback. */
  readonly questions: readonly Judged<F>[];
}

export interface JudgedStep extends Line<StepRecord>, StepOf<Feedback> {}

export async function judgeStep(auditor: Auditor, line: Line<StepRecord>): Promise<JudgedStep> {
  return { ...line, questions: await judgeAll(auditor, line.record.feedback) };
}

export async function judgeAll<F extends Graded>(auditor: Auditor, feedback: readonly F[]): Promise<Judged<F>[]> {
  const verdicts = await auditor.judge(feedback);
  if (verdicts.length !== feedback.length)
    throw new Error(`auditor ${auditor.name} gave ${verdicts.length} verdicts on ${feedback.length} questions`);
  return feedback.map((asked, q) => {
    const verdict = verdicts[q]!;
    return { feedback: asked, verdict, pairs: pairsOf(asked, verdict) };
  });
}
