/**
 * The nouns of Crossfold: readonly JSON, no methods. Anything here can be written to the journal as it is.
 * Array-valued fields say what they are indexed by.
 */

/** A hop count: how many facts a question chains together (method.md section 1). */
export type Hops = 1 | 2 | 3 | 4;
export type Fold = 0 | 1;

/** The unit a fold keeps whole: one document of the corpus, or one entity page of a world. */
export interface Source {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** One retrievable piece of a source (about 100 words, never crossing a source). */
export interface Passage {
  readonly id: string;
  readonly source: string;
  readonly title: string;
  readonly text: string;
}

/** Accepted answers of a question and where they come from. */
export interface Label {
  readonly answers: readonly string[];
  readonly from: 'gold' | 'proposer' | 'verified';
}

export interface Question {
  readonly id: string;
  readonly text: string;
  /** Source id the question was written from. */
  readonly source: string;
  readonly hops: Hops;
  readonly label: Label;
}

/**
 * A piece of a prompt. A plain string is untrusted text: whatever it contains, it never encodes to a control token.
 * `{ tag }` is one control token, written by us.
 */
export type Piece = string | { readonly tag: string };

/** Closed set of things that can be wrong with an assistant turn. */
export type Violation =
  | 'truncated'
  | 'unclosed_thinking'
  | 'nested_tag'
  | 'self_authored_information'
  | 'action_after_action'
  | 'empty_query'
  | 'empty_answer'
  | 'empty_question'
  | 'unknown_tag'
  | 'malformed_call'
  | 'unparsed';

/** Half-open range of characters in the decoded text of a turn. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What the first complete action of an assistant turn is. Ranges are where the text came from. */
export type Action =
  | { readonly type: 'search'; readonly text: string; readonly queries: readonly string[] }
  | { readonly type: 'answer'; readonly text: string; readonly range: Range }
  | {
      readonly type: 'propose';
      readonly question: string;
      readonly answer: string;
      readonly answerRange: Range;
    }
  | { readonly type: 'invalid'; readonly reason: Violation }
  | { readonly type: 'none' };

/** The reading of one assistant turn by a dialect. Never throws: every string has one. */
export interface ParsedTurn {
  /** Text of the closed think block at the start; null when there is none or it is not closed. */
  readonly thinking: string | null;
  readonly action: Action;
  /** No violation of any kind: full format credit is possible. */
  readonly formatOk: boolean;
  readonly violations: readonly Violation[];
  /** The turn was cut by the token limit. */
  readonly truncated: boolean;
  /** Text after the first complete action was dropped. */
  readonly discardedTail: boolean;
  /** Characters of the text up to the end of the first action, when a tail was discarded: later tokens leave the rollout. */
  readonly kept?: number;
  /** The action was closed by the engine's stop string, which the engine removed. */
  readonly closedByStop: boolean;
}

/** Why one `sample` call ended. */
export interface Finish {
  readonly reason: 'stop' | 'length';
  /** The stop string that matched and was removed from the text, if any. */
  readonly stopMatched?: string | null;
}

/** One stretch of a rollout. `tokens` are the tokens that the turn adds, in order. */
export type Turn =
  | { readonly kind: 'prompt'; readonly tokens: readonly number[] }
  | {
      readonly kind: 'reply';
      readonly tokens: readonly number[];
      /** Log-probability of each token when it was sampled, in nats. Same length as `tokens`. */
      readonly logprobs: readonly number[];
      readonly finish: Finish;
      readonly parsed: ParsedTurn;
      /** Half-open token range (within `tokens`) of the final answer, if this turn holds one. */
      readonly answerTokens?: Range;
    }
  | {
      readonly kind: 'search';
      readonly tokens: readonly number[];
      readonly queries: readonly string[];
      /** Passage ids in the order shown. */
      readonly passages: readonly string[];
      /** Tool failure or notice text that was shown instead of passages. */
      readonly notice?: 'repeated_query' | 'invalid_action' | 'search_limit';
    };

export type StopReason = 'answer' | 'turn-limit' | 'token-limit' | 'malformed' | 'error';

/** One multi-turn trajectory: tokens in, tokens out. The loss mask is a function of `turns` (method/mask). */
export interface Rollout {
  readonly turns: readonly Turn[];
  readonly stop: StopReason;
  /** Final answer text of the solver, or the proposer's label; null when none was given. */
  readonly answer: string | null;
  /** The proposer's question; null for solver rollouts or when none was extractable. */
  readonly question: string | null;
  /** Valid executed searches. */
  readonly searches: number;
  /** A search call of this rollout was malformed. */
  readonly malformedCall: boolean;
  /** Set when `stop` is "error": an outage or a tool failure that retries did not cure. Never scored as wrong. */
  readonly error?: string;
}

/** A question a proposer wrote, before or after admission. */
export interface Proposal {
  readonly source: string;
  readonly hops: Hops;
  readonly rollout: Rollout;
}

export interface Reward {
  readonly total: number;
  readonly parts: Readonly<Record<string, number>>;
}

/** What the feedback solver said about one question: the unit of the audit. */
export interface Feedback {
  readonly question: string;
  readonly source: string;
  readonly hops: Hops;
  readonly label: string;
  /** Policy id of the grader. */
  readonly grader: string;
  /** n responses; null is a response without an answer. */
  readonly responses: readonly (string | null)[];
  /** matches[j]: does responses[j] match the label? */
  readonly matches: readonly boolean[];
}

/** Where a frozen policy comes from. The full ancestry is found by following `parent`. */
export interface Descent {
  readonly policy: string;
  readonly parent: string | null;
  /** Source ids whose labels trained the step from `parent` to `policy`. */
  readonly sources: readonly string[];
}

/** One judged (label, response) pair: response matches label, label correct, response correct. */
export interface AuditPair {
  readonly source: string;
  readonly M: boolean;
  readonly P: boolean;
  readonly S: boolean;
}
