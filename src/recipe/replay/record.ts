/**
 * What a replay writes to its journal:
 *
 *   setup                              ReplaySetup      the bank itself is a blob; earlier versions have arms and seeds here
 *   base/answer, base/probe            ReplayAnswer, EvaluationRecord   nothing fitted: the control
 *   seedS/verify                       ReplayVerify     where an arm has verified labels
 *   seedS/fit/RULE/GRADER/000 …        StepRecord       phase "auxiliary"
 *   seedS/probe/RULE/GRADER@N          EvaluationRecord after N updates
 *   seedS/fit/RULE/GRADER@N/000 …      StepRecord       fitted again, where the weights after N updates are gone
 *   seedS/answer/ARM                   ReplayAnswer
 *
 * There is no last line: more seeds and arms may be asked for at any time. Earlier versions end what they were asked with `done`.
 */
import type { StateRef, Usage } from '../../engine.ts';
import type { BankItem, JudgeRequests, VerificationRecord } from '../../record.ts';
import type { Feedback } from '../../types.ts';

export interface ReplaySetup {
  readonly kind: 'replay-setup';
  readonly questions: number;
  readonly sources: number;
  readonly task: string;
  readonly engine: string;
  readonly base: StateRef;
  readonly probe: number;
  /** Blob id. */
  readonly bank: string;
}

export interface ReplayVerify extends JudgeRequests {
  readonly kind: 'replay-verify';
  /** The admitted questions with their adopted labels. */
  readonly bank: readonly BankItem[];
  readonly verification: VerificationRecord;
  /** Blob id. */
  readonly rollouts: string;
}

export interface ReplayAnswer extends JudgeRequests {
  readonly kind: 'replay-answer';
  readonly arm: string;
  readonly feedback: readonly Feedback[];
  /** Responses lost to an outage. */
  readonly failed: number;
  /** Questions whose source is in their grader's ancestry. */
  readonly overlap: number;
  readonly usage: Usage;
  /** Blob id. */
  readonly rollouts: string;
}
