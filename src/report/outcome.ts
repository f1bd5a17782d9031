/** What became of a rollout, as far as the journal and the audit know. */
import type { Verdict } from '../auditor.ts';
import type { RolloutRecord, RunRecord, StepRecord } from '../record.ts';

export const OUTCOMES = ['right', 'wrong', 'false-agreement', 'malformed', 'error'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Judged {
  /** Those that hold; neither right nor wrong where nothing could be judged. */
  readonly outcomes: readonly Outcome[];
  readonly label: string | null;
  readonly reference: string | null;
  /** Does the response match the label? Null for proposals and where there is no label. */
  readonly match: boolean | null;
  /** Responses to the same question. */
  readonly group: number;
}

/**
 * `index` is the place of the rollout in its blob, `verdicts` those of the step. Solver: right is a correct response. Proposer:
 * right is a correct label, and false agreement is that of at least one response to its question.
 */
export function judged(record: RunRecord, r: RolloutRecord, index: number, verdicts: readonly Verdict[]): Judged {
  const { stop, malformedCall } = r.rollout;
  const form: Outcome[] = stop === 'error' ? ['error'] : stop !== 'answer' || malformedCall ? ['malformed'] : [];
  const unknown: Judged = { outcomes: form, label: null, reference: null, match: null, group: 0 };
  if (stop === 'error') return unknown;
  if (record.kind === 'evaluation') return { ...unknown, outcomes: [record.em[index] ? 'right' : 'wrong', ...form] };
  if (record.kind !== 'step' || r.feedback === null) return unknown;
  return { ...unknown, ...inStep(record, r, verdicts[r.feedback], form) };
}

function inStep(
  { feedback }: StepRecord,
  { role, feedback: f, attempt, rollout }: RolloutRecord,
  verdict: Verdict | undefined,
  form: readonly Outcome[],
): Partial<Judged> {
  const asked = feedback[f!];
  if (asked === undefined) return {};
  const { label, matches, responses } = asked;
  // Should the two ever be out of step, nothing is said about the response.
  const aligned = role === 'proposer' || (attempt < responses.length && responses[attempt] === rollout.answer);
  const match = role === 'solver' && aligned ? matches[attempt]! : null;
  const known = { label, match, group: responses.length };
  if (verdict === undefined || !verdict.resolved || !aligned) return known;
  const { labelCorrect, responseCorrect, reference } = verdict;
  if (role === 'solver' && responseCorrect[attempt] === null) return { ...known, reference };
  const falsely = (j: number): boolean => matches[j]! && !labelCorrect && responseCorrect[j] === false;
  const [right, falseAgreement] =
    role === 'proposer'
      ? [labelCorrect, matches.some((_, j) => falsely(j))]
      : [responseCorrect[attempt], falsely(attempt)];
  const agreement: Outcome[] = falseAgreement ? ['false-agreement'] : [];
  return { ...known, reference, outcomes: [right ? 'right' : 'wrong', ...agreement, ...form] };
}
