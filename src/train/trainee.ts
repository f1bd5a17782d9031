/** A policy in training as a value: each update takes a frozen state and gives the next one. */
import type { Engine, StateRef, TrainingClient } from '../engine.ts';
import type { Role } from '../method/mask.ts';
import type { UpdateRecord } from '../record.ts';
import type { Blobs } from '../store.ts';
import type { LoopSettings } from './context.ts';
import { datumBatch, type Scored } from './datum.ts';

export interface Trainee {
  update(before: StateRef, step: TraineeStep): Promise<{ readonly after: StateRef; readonly update: UpdateRecord }>;
  close(): Promise<void>;
}

export interface TraineeStep {
  /** Rollouts without outages, with their advantages. */
  readonly scored: readonly Scored[];
  readonly role: Role;
  readonly learningRate: number;
}

/** Opens the training client at the first update; a state that is already loaded is not loaded again. */
export function openTrainee(engine: Engine, settings: LoopSettings): Trainee {
  let client: TrainingClient | null = null;
  let at: StateRef | null = null;
  return {
    async update(before, { scored, role, learningRate }) {
      const batch = datumBatch(scored, role, settings.lossMean);
      const idle = { loss: 0, gradNorm: 0, klSamplerTrainer: 0 };
      const counts = { learningRate, trajectories: batch.trajectories, trained: batch.data.length };
      // A step that teaches nothing is still a step; there is nothing to apply.
      if (batch.data.length === 0) return { after: before, update: { ...idle, ...counts } };
      if (client === null) client = await engine.train(before);
      else if (at === null || !sameState(at, before)) await client.load(before);
      // Until the update is whole, nobody knows what is loaded.
      at = null;
      const out = await client.forwardBackward(batch.data, 'importance_sampling');
      const { gradNorm } = await client.optimStep({
        learningRate,
        beta1: 0.9,
        beta2: 0.95,
        eps: 1e-8,
        weightDecay: settings.weightDecay,
        gradClip: settings.gradClip,
      });
      const after = await client.save();
      at = after;
      let [drift, tokens] = [0, 0];
      batch.data.forEach((datum, d) => {
        datum.advantages!.forEach((a, t) => {
          if (a === 0) return;
          drift += datum.logprobs![t]! - out.logprobs[d]![t]!;
          tokens++;
        });
      });
      return { after, update: { loss: out.loss, gradNorm, klSamplerTrainer: drift / tokens, ...counts } };
    },
    async close() {
      await client?.close();
    },
  };
}

export const sameState = (a: StateRef, b: StateRef): boolean => a.policy === b.policy && a.optimizer === b.optimizer;

/** Linear warm-up to `peak`; steps count from 0 where the optimizer's memory starts. */
export const warmRate = (peak: number, step: number, warmup: number): number =>
  peak * Math.min(1, (step + 1) / Math.max(1, warmup));

/** Removes the blobs of a state that `next` replaces, unless something kept names them. */
export async function dropState(blobs: Blobs, old: StateRef, kept: readonly StateRef[]): Promise<void> {
  const names = new Set(kept.flatMap((s) => [s.policy, s.optimizer]));
  for (const id of [old.policy, old.optimizer]) if (id !== null && !names.has(id)) await blobs.drop(id);
}
