/**
 * Format reward of a proposal (method.md section 1), in [0, 1]:
 *
 *   format = (thinking + tools + question + answer) / 4     if the gate opens, else 0
 *
 *   gate      question and answer are not empty, and normalise(answer) does not occur in normalise(question)
 *   thinking  share of assistant turns that begin with one closed think block; a truncated turn does not count
 *   tools     h = 1: 1      h > 1: min((1 + searches) / h, 1), or 0 if a call was malformed
 *   question  1 if one could be extracted
 *   answer    1 if at most 5 words and grounded, 0.5 if at most 10 words, else 0
 *   grounded  yes, no, or contained in the source document or a tool result; never in what the model wrote itself
 *
 * Departures from the released code. [ours] A multi-hop proposal without a search keeps 1/h (released: 0).
 * [ours] An answer of at most 10 words that is not grounded keeps 0.5 (released: 0).
 */
import { normalize, words } from '../text/normalize.ts';
import type { Hops, ParsedTurn } from '../types.ts';

export interface FormatInput {
  readonly hops: Hops;
  /** Assistant turns in order. */
  readonly turns: readonly ParsedTurn[];
  /** False when the dialect has no think block: the thinking part is then full credit. */
  readonly thinks: boolean;
  /** Valid executed searches. */
  readonly searches: number;
  readonly malformedCall: boolean;
  readonly question: string | null;
  readonly answer: string | null;
  /** The source document and the tool results of this trajectory. */
  readonly evidence: readonly string[];
}

export type GateFailure = 'no_question' | 'no_answer' | 'answer_in_question';

export interface FormatReward {
  /** Null: the gate opened and the proposal may be sent to a solver. */
  readonly gate: GateFailure | null;
  /** 0 when the gate is shut. */
  readonly score: number;
  /** Each in [0, 1], reported even when the gate is shut. */
  readonly parts: {
    readonly thinking: number;
    readonly tools: number;
    readonly question: number;
    readonly answer: number;
  };
}

export function formatReward(input: FormatInput): FormatReward {
  const gate = gateFailure(input.question, input.answer);
  const parts = {
    thinking: input.thinks ? thinkingShare(input.turns) : 1,
    tools: toolUse(input.hops, input.searches, input.malformedCall),
    question: normalize(input.question ?? '') === '' ? 0 : 1,
    answer: answerCredit(input.answer ?? '', input.evidence),
  };
  const mean = (parts.thinking + parts.tools + parts.question + parts.answer) / 4;
  return { gate, score: gate === null ? mean : 0, parts };
}

export function gateFailure(question: string | null, answer: string | null): GateFailure | null {
  const q = normalize(question ?? '');
  const a = normalize(answer ?? '');
  if (q === '') return 'no_question';
  if (a === '') return 'no_answer';
  return q.includes(a) ? 'answer_in_question' : null;
}

function thinkingShare(turns: readonly ParsedTurn[]): number {
  const good = turns.filter((t) => t.thinking !== null && !t.truncated && !t.violations.includes('unclosed_thinking'));
  return turns.length === 0 ? 0 : good.length / turns.length;
}

function toolUse(hops: Hops, searches: number, malformedCall: boolean): number {
  if (hops === 1) return 1;
  return malformedCall ? 0 : Math.min((1 + searches) / hops, 1);
}

function answerCredit(answer: string, evidence: readonly string[]): number {
  const a = normalize(answer);
  if (a === '') return 0;
  const length = words(a).length;
  const grounded = a === 'yes' || a === 'no' || evidence.some((text) => normalize(text).includes(a));
  if (length <= 5 && grounded) return 1;
  return length <= 10 ? 0.5 : 0;
}
