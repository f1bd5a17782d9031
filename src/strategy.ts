/**
 * Strategy contract: one way of answering a question (method.md section 7). Implementations live in strategy/. All have the
 * same budget, and their answers are found in the same way.
 */
import type { Hit } from './retriever.ts';
import type { Rollout, StopReason } from './types.ts';

/** What every system may spend on a question. */
export interface Budget {
  /** Replies of the model; one fewer searches. */
  readonly turns: number;
  /** Passages a search. */
  readonly topK: number;
  /** New tokens a reply. */
  readonly maxTokens: number;
}

export interface Asked {
  readonly id: string;
  readonly question: string;
}

/** A stretch of an attempt as text, for people: what the model was told, what it said, what was looked up and found. */
export interface AttemptTurn {
  readonly kind: 'prompt' | 'reply' | 'search';
  readonly text: string;
}

/** What came of one question. */
export interface Attempt {
  /** Null: no answer was given. */
  readonly prediction: string | null;
  /** Executed searches. */
  readonly searches: number;
  /** Of those, the ones that found nothing; absent: none. */
  readonly emptySearches?: number;
  /** Replies of the model without a text; absent: none. */
  readonly emptyReplies?: number;
  readonly stop: StopReason;
  /** Set when `stop` is "error": an outage. */
  readonly error?: string;
  readonly turns: readonly AttemptTurn[];
  /** Token by token, where the strategy works in tokens. */
  readonly rollout?: Rollout;
}

/** Greedy, one attempt a question. */
export interface Strategy {
  readonly name: string;
  /** Attempts in the order of the questions, each as if it were alone. An outage is data; whatever else goes wrong is thrown. */
  answer(questions: readonly Asked[]): Promise<readonly Attempt[]>;
}

/** What a procedure works with. Everything that goes through it becomes a turn of the attempt. */
export interface Tools {
  readonly budget: Budget;
  /** About as many words of evidence as the model can read in one prompt. */
  readonly evidenceWords: number;
  /** The model's reply to messages. @throws InfraError on an outage, which ends the attempt. */
  ask(request: ToolRequest): Promise<ToolReply>;
  /** Passages, best first. @throws InfraError on an outage, which ends the attempt. */
  search(query: string): Promise<readonly Hit[]>;
}

export interface ToolRequest {
  /** Messages of the user and the model in turn; the user's come first and last. */
  readonly messages: readonly string[];
  /** Fewer than the budget has. */
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
}

export interface ToolReply {
  readonly text: string;
  readonly finish: 'stop' | 'length';
}

/** A prompted strategy, for one question: returns the reply that holds the answer. Which answer that is, is decided elsewhere. */
export type Procedure = (question: string, tools: Tools) => Promise<ToolReply>;
