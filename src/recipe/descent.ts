/** Whose labels trained the policies of a run, step by step (method.md section 4); store/descent follows the chain. */
import type { StateRef } from '../engine.ts';
import type { StepRecord } from '../record.ts';
import type { Descent } from '../types.ts';

export const baseDescent = ({ policy }: StateRef): Descent => ({ policy, parent: null, sources: [] });

/** What a step made of the policy before it; null for a proposer, which no label trains. */
export const descentOf = ({ phase, before, after, feedback }: StepRecord): Descent | null =>
  phase === 'proposer'
    ? null
    : {
        policy: after.policy,
        parent: before.policy,
        sources: [...new Set(feedback.map(({ source }) => source))],
      };
