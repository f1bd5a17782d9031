/**
 * Group-relative advantage: HRPO, GRPO and their global variant are one estimator with different groups (method.md section 1).
 *
 *   Â_e = (r_e − μ_g) / (σ_g + 1e-6),   σ_g with n − 1 in the denominator;   0 where |g| = 1 or σ_g = 0
 *
 * Departure. [ours] A group of one gets 0 (released code: its raw reward). It is reported, and the step still counts.
 * No clipping, no KL term.
 */
import type { Hops } from '../types.ts';
import { groupBy } from '../util/group.ts';
import { mean } from './statistics.ts';

/** A group that teaches nothing. `all_fail`: every reward is 0. */
export interface IdleGroup {
  readonly group: string;
  readonly size: number;
  readonly reason: 'single' | 'all_fail' | 'all_equal';
}

export interface Advantages {
  /** Per trajectory, in the order given. */
  readonly advantages: readonly number[];
  /** Groups with an advantage other than 0, in order of first appearance. */
  readonly trainable: readonly string[];
  readonly idle: readonly IdleGroup[];
}

const EPSILON = 1e-6;
/** Rewards closer than this differ by rounding alone. */
const SAME = 1e-9;

/** `groups[e]` is the key of trajectory e's group: an identity, never a text (equal questions are not one group). */
export function advantages(rewards: readonly number[], groups: readonly string[]): Advantages {
  if (rewards.length !== groups.length) throw new Error(`${rewards.length} rewards for ${groups.length} group keys`);
  const members = groupBy(groups.keys(), (e) => groups[e]!);
  const out = rewards.map(() => 0);
  const trainable: string[] = [];
  const idle: IdleGroup[] = [];
  for (const [group, es] of members) {
    const r = es.map((e) => rewards[e]!);
    const reason = idleReason(r);
    if (reason) {
      idle.push({ group, size: es.length, reason });
      continue;
    }
    trainable.push(group);
    const centre = mean(r);
    const sd = Math.sqrt(r.reduce((a, b) => a + (b - centre) ** 2, 0) / (r.length - 1));
    for (const e of es) out[e] = (rewards[e]! - centre) / (sd + EPSILON);
  }
  return { advantages: out, trainable, idle };
}

function idleReason(rewards: readonly number[]): IdleGroup['reason'] | null {
  const low = Math.min(...rewards);
  const high = Math.max(...rewards);
  if (high - low > SAME) return null;
  if (rewards.length === 1) return 'single';
  return low === 0 && high === 0 ? 'all_fail' : 'all_equal';
}

/** What a proposer group may be keyed by. `prompt` is the slot of the prompt in its step. */
export interface Prompted {
  readonly hops: Hops;
  readonly prompt: number;
}

/** Proposer estimators: the group, and what one prompt costs. GRPO for the solver groups the n responses of one slot. */
export const ESTIMATORS = {
  hrpo: { group: (p: Prompted) => `hops ${p.hops}`, trajectories: 1, responses: 5 },
  grpo: { group: (p: Prompted) => `prompt ${p.prompt}`, trajectories: 4, responses: 4 },
  global: { group: (_: Prompted) => 'all', trajectories: 1, responses: 5 },
} as const;

export type Estimator = keyof typeof ESTIMATORS;

/** Solver rollouts one proposer prompt costs: HRPO 1 × 5 = 5, GRPO 4 × 4 = 16. */
export const rolloutsPerPrompt = (e: { readonly trajectories: number; readonly responses: number }): number =>
  e.trajectories * e.responses;
