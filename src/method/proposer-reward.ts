/**
 * Reward of a proposal (method.md section 1):
 *
 *   R_P = w · format + f(k),   w = 0.5        0 if the gate is shut
 *
 * A proposal behind a shut gate is not sent to the solver and still counts, with 0, in the statistics of its group. `drop`
 * takes it out of the group instead: the CrossFit paper's "usable trajectories". w = 0 is that paper's R_P = f.
 */
import type { Reward } from '../types.ts';
import { type Difficulty, difficulty } from './difficulty.ts';
import type { FormatReward } from './format.ts';

export interface ProposerRewardSettings {
  readonly formatWeight: number;
  readonly difficulty: Difficulty;
  /** What becomes of a proposal behind a shut gate. */
  readonly gate: 'zero' | 'drop';
}

export const PROPOSER_REWARD: ProposerRewardSettings = { formatWeight: 0.5, difficulty: 'linear', gate: 'zero' };

/**
 * `matches[j]`: does the grader's response j match the label? Empty when the proposal was not graded.
 * Null: the proposal leaves its group.
 */
export function proposerReward(
  format: FormatReward,
  matches: readonly boolean[],
  settings: ProposerRewardSettings = PROPOSER_REWARD,
): Reward | null {
  if (format.gate !== null && settings.gate === 'drop') return null;
  const f = format.gate === null ? difficulty(settings.difficulty, matches) : 0;
  return {
    total: settings.formatWeight * format.score + f,
    parts: { ...format.parts, format: format.score, difficulty: f },
  };
}
