/** A policy in training as a value: each update takes a frozen state and gives the next one. */
import type { Datum, Engine, Loss, OptimSettings, StateRef, TrainingClient } from '../engine.ts';
import type { Role } from '../method/mask.ts';
import type { UpdateRecord } from '../record.ts';
import type { Blobs } from '../store.ts';
import type { LoopSettings } from './context.ts';
import { datumBatch, type Scored } from './datum.ts';

export interface Trainee {
  update(before: StateRef, step: TraineeStep): Promise<Updated>;
  close(): Promise<void>;
}

export interface Updated {
  readonly after: StateRef;
  readonly update: UpdateRecord;
  /** Tokens that the engine trained on. */
  readonly trained: number;
}

interface Part {
  /** Rollouts without outages, with their advantages. */
  readonly scored: readonly Scored[];
  readonly role: Role;
}

export interface TraineeStep extends Part {
  readonly learningRate: number;
  /** The same policy in another role: its loss, a mean over its own rollouts, is added. */
  readonly also?: Part;
  /** cross_entropy imitates the rollouts, whoever wrote them; advantages are their weights. */
  readonly loss?: 'importance_sampling' | 'cross_entropy';
}

/** Opens the training client at the first update; a state that is already loaded is not loaded again. */
export function openTrainee(engine: Engine, settings: LoopSettings): Trainee {
  let client: TrainingClient | null = null;
  let at: StateRef | null = null;
  return {
    async update(before, { learningRate, also, loss = 'importance_sampling', ...part }) {
      const parts = [part, ...(also === undefined ? [] : [also])];
      const batches = parts.map(({ scored, role }) => datumBatch(scored, role, settings.lossMean));
      const data = batches.flatMap((batch) => batch.data);
      const trajectories = batches.reduce((sum, batch) => sum + batch.trajectories, 0);
      const idle = { loss: 0, gradNorm: 0, klSamplerTrainer: 0 };
      const counts = { learningRate, trajectories, trained: data.length };
      // A step that teaches nothing is still a step; there is nothing to apply.
      if (data.length === 0) return { after: before, update: { ...idle, ...counts }, trained: 0 };
      if (client === null) client = await engine.train(before);
      else if (at === null || !sameState(at, before)) await client.load(before);
      // Until the update is whole, nobody knows what is loaded.
      at = null;
      const { out, gradNorm } = await updateOf(client, loss === 'cross_entropy' ? data.map(imitated) : data, loss, {
        learningRate,
        beta1: 0.9,
        beta2: 0.95,
        eps: 1e-8,
        weightDecay: settings.weightDecay,
        gradClip: settings.gradClip,
      });
      const after = await client.save();
      const trained = data.reduce((sum, datum) => sum + datum.tokens.length - 1, 0);
      at = after;
      // What is imitated may come from anywhere: there is no sampler to differ from.
      if (loss === 'cross_entropy') return { after, update: { ...idle, loss: out.loss, gradNorm, ...counts }, trained };
      let [drift, tokens] = [0, 0];
      data.forEach((datum, d) => {
        datum.advantages!.forEach((a, t) => {
          if (a === 0) return;
          drift += datum.logprobs![t]! - out.logprobs[d]![t]!;
          tokens++;
        });
      });
      return { after, update: { loss: out.loss, gradNorm, klSamplerTrainer: drift / tokens, ...counts }, trained };
    },
    async close() {
      await client?.close();
    },
  };
}

const imitated = ({ tokens, advantages }: Datum): Datum => ({ tokens, weights: advantages! });

async function updateOf(client: TrainingClient, batch: readonly Datum[], loss: Loss, optim: OptimSettings) {
  if (client.update !== undefined) return client.update(batch, loss, optim);
  const out = await client.forwardBackward(batch, loss);
  return { out, gradNorm: (await client.optimStep(optim)).gradNorm };
}

export const sameState = (a: StateRef, b: StateRef): boolean => a.policy === b.policy && a.optimizer === b.optimizer;

/** Linear warm-up to `peak`; steps count from 0 where the optimizer's memory starts. */
export const warmRate = (peak: number, step: number, warmup: number): number =>
  peak * Math.min(1, (step + 1) / Math.max(1, warmup));

/** Where states are kept: on a server that has its own, else among the run's blobs. */
export interface Dropping {
  readonly engine: Pick<Engine, 'forget'>;
  readonly blobs: Pick<Blobs, 'drop'>;
}

/** Removes the blobs of a state that `next` replaces, unless something kept names them. */
export async function dropState({ engine, blobs }: Dropping, old: StateRef, kept: readonly StateRef[]): Promise<void> {
  // A server keeps its own weights.
  const drop = (id: string): Promise<void> => (engine.forget ? engine.forget(id) : blobs.drop(id));
  const names = new Set(kept.flatMap((s) => [s.policy, s.optimizer]));
  for (const id of [old.policy, old.optimizer]) if (id !== null && !names.has(id)) await drop(id);
}
