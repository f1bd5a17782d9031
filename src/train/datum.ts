/**
 * A rollout and its advantage as a training sequence (method.md section 1): the tokens as they were sampled, shifted by
 * one. Nothing is decoded and encoded again.
 */
import type { Datum } from '../engine.ts';
import { type LossMean, type Role, scoredTokens, tokenWeights } from '../method/mask.ts';
import { flatten } from '../rollout/flatten.ts';
import type { Rollout } from '../types.ts';

export interface Scored {
  readonly rollout: Rollout;
  readonly advantage: number;
}

export interface DatumBatch {
  /** One datum for each rollout that has a scored token and an advantage other than 0, in order. */
  readonly data: readonly Datum[];
  /** `from[d]` is the index of the rollout of datum d. */
  readonly from: readonly number[];
  /** |E|: rollouts with a scored token. */
  readonly trajectories: number;
  /** Σ |T_e|. */
  readonly tokens: number;
}

/** The data of one optimizer step, for importance_sampling or ppo. Outages must be taken out before. */
export function datumBatch(scored: readonly Scored[], role: Role, mean: LossMean): DatumBatch {
  const masks = scored.map((s) => scoredTokens(s.rollout.turns, role));
  const counts = masks.map((mask) => mask.filter(Boolean).length);
  const weights = tokenWeights(
    scored.map((s) => s.advantage),
    counts,
    mean,
  );
  const from = weights.flatMap((w, e) => (w === 0 ? [] : [e]));
  return {
    data: from.map((e) => datum(scored[e]!.rollout, masks[e]!, weights[e]!)),
    from,
    trajectories: counts.filter((n) => n > 0).length,
    tokens: counts.reduce((a, b) => a + b, 0),
  };
}

/** `weight` goes to every token of `mask`, 0 to the rest. Position t of the arrays is about token t + 1. */
export function datum(rollout: Rollout, mask: readonly boolean[], weight: number): Datum {
  const { tokens, logprobs } = flatten(rollout);
  if (logprobs.length !== tokens.length)
    throw new Error(`rollout has ${tokens.length} tokens but ${logprobs.length} log-probabilities`);
  if (mask[0])
    throw new Error('a rollout must start with a prompt token: its first token has no context to be scored in');
  return {
    tokens,
    advantages: mask.slice(1).map((scores) => (scores ? weight : 0)),
    logprobs: mask.slice(1).map((scores, t) => (scores ? logprobs[t + 1]! : 0)),
  };
}
