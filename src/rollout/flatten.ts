/** A rollout as one token sequence: what the policy saw and said, in order. */
import type { Range, Rollout } from '../types.ts';

/** Arrays are indexed by position in the whole sequence. */
export interface FlatRollout {
  readonly tokens: readonly number[];
  /** In nats; 0 where the policy did not sample. */
  readonly logprobs: readonly number[];
  readonly sampled: readonly boolean[];
  /** Half-open range of the final answer; null when there is none. */
  readonly answerTokens: Range | null;
}

export function flatten({ turns }: Pick<Rollout, 'turns'>): FlatRollout {
  const tokens = turns.flatMap((turn) => turn.tokens);
  const logprobs = turns.flatMap((turn) => (turn.kind === 'reply' ? turn.logprobs : turn.tokens.map(() => 0)));
  const sampled = turns.flatMap((turn) => turn.tokens.map(() => turn.kind === 'reply'));
  let answerTokens: Range | null = null;
  let offset = 0;
  for (const turn of turns) {
    if (turn.kind === 'reply' && turn.answerTokens !== undefined) {
      answerTokens = { start: offset + turn.answerTokens.start, end: offset + turn.answerTokens.end };
    }
    offset += turn.tokens.length;
  }
  return { tokens, logprobs, sampled, answerTokens };
}
