/**
 * Dialect contract: how one family of policies is spoken to. A dialect is a row; the multi-turn machine
 * (rollout/converse) is the same for all of them.
 */
import type { Hit } from './retriever.ts';
import type { Finish, Hops, ParsedTurn, Piece, Source } from './types.ts';

export interface Dialect {
  readonly name: string;
  /** False when the dialect has no think block: the thinking part of the format reward is then full credit. */
  readonly thinks: boolean;
  /** Control tokens that end a turn. */
  readonly stop: readonly string[];
  /** Control token that closes a reply before anything else is read: added, as no choice of the policy's, where it is missing. */
  readonly endOfTurn?: string;
  proposerPrompt(source: Source, hops: Hops): readonly Piece[];
  solverPrompt(question: string): readonly Piece[];
  /** The question with its source at hand (MSV's source-aware view); absent: the source as a first search result. */
  awarePrompt?(question: string, source: Source): readonly Piece[];
  /** What the policy reads after a search. `question` is null for the proposer. Untrusted text goes in as plain strings. */
  searchResult(hits: readonly Hit[], question: string | null): readonly Piece[];
  /** What the policy reads when its call could not be executed. */
  notice(kind: 'repeated_query' | 'invalid_action' | 'search_limit', question: string | null): readonly Piece[];
  /** A turn that answers at once, as a policy of this dialect would write it: what fine-tuning on answers imitates. */
  answerTurn(question: string, answer: string): readonly Piece[];
  /** Reads one assistant turn. `question` is the solver's question (null for the proposer). Never throws. */
  parse(text: string, finish: Finish, question: string | null): ParsedTurn;
}
