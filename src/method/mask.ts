/**
 * Which tokens are trained, and by how much (method.md section 1).
 *
 *   L = −(1/|E|) Σ_e Â_e (1/|T_e|) Σ_{t ∈ T_e} log π(y_t | …)      `sequence`, the default
 *   L = −Σ_e Â_e Σ_{t ∈ T_e} log π(y_t | …) / Σ_e |T_e|            `token`, as released Dr. Zero
 *
 * T_e are the tokens that the policy sampled: prompts and tool results are never in it, and neither are the proposer's
 * final answer tokens (CrossFit paper). The solver's answer tokens are. E are the trajectories with a scored token.
 * Departure. [ours] A turn that the token limit cut is not scored: its end was not the policy's choice.
 */
import type { Turn } from '../types.ts';

export type Role = 'proposer' | 'solver';
export type LossMean = 'sequence' | 'token';

/** Per token of the trajectory, turns in order: does it count in the loss? */
export function scoredTokens(turns: readonly Turn[], role: Role): boolean[] {
  return turns.flatMap((turn) => {
    if (turn.kind !== 'reply' || turn.parsed.truncated || turn.finish.reason === 'length')
      return turn.tokens.map(() => false);
    const hidden = role === 'proposer' ? turn.answerTokens : undefined;
    return turn.tokens.map((_, i) => !(hidden && i >= hidden.start && i < hidden.end));
  });
}

/**
 * Weight of every scored token of trajectory e, so that a loss summed over tokens is L. `counts[e]` = |T_e|. Trajectories
 * without advantage still count in |E| and Σ|T_e|; those without a scored token do not.
 */
export function tokenWeights(advantages: readonly number[], counts: readonly number[], mean: LossMean): number[] {
  const trajectories = counts.filter((n) => n > 0).length;
  const tokens = counts.reduce((a, b) => a + b, 0);
  return advantages.map((advantage, e) => {
    const count = counts[e]!;
    if (count === 0) return 0;
    return mean === 'sequence' ? advantage / (trajectories * count) : advantage / tokens;
  });
}
