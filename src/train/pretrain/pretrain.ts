/**
 * Supervised pre-training of a small base policy. A run like any other: each chunk of tokens is one journal line, so it may
 * be stopped between two of them, and what a crash leaves continues after the last one.
 */
import type { Datum, Engine, StateRef, TrainingClient } from '../../engine.ts';
import type { Scope } from '../../store.ts';
import { Interrupted } from '../../util/error.ts';
import { dropState, sameState } from '../trainee.ts';
import { batchesOf, chunkRng, type Example, rateAt, takeTokens } from './schedule.ts';

export interface PretrainPlan {
  readonly seed: number;
  readonly totalTokens: number;
  readonly chunkTokens: number;
  readonly batchTokens: number;
  readonly learningRate: number;
  readonly muonRate: number;
  /** Measure every so many chunks; and after the last one. */
  readonly probeEvery: number;
}

/** Tokens and steps count from the start of training. */
export interface ChunkRecord {
  readonly tokens: number;
  readonly steps: number;
  /** Mean over the steps of the chunk, in nats a weighted token. */
  readonly loss: number;
  readonly state: StateRef;
  /** What was measured after the chunk; empty where nothing was. */
  readonly probe: Readonly<Record<string, number>>;
}

export interface PretrainTask {
  /** Endless examples for a point of training (0..1). */
  examples(key: string, progress: number): Iterable<Example>;
  probe(policy: string): Promise<Readonly<Record<string, number>>>;
}

/** `replayed`: the record was read from the journal, nothing was trained. Chunks count from 0. */
export type ChunkListener = (record: ChunkRecord, chunk: number, chunks: number, replayed: boolean) => void;

/** @throws Interrupted at the next border between two chunks once `signal` is aborted. */
export async function pretrain(
  engine: Engine,
  scope: Scope,
  plan: PretrainPlan,
  task: PretrainTask,
  report: ChunkListener,
  signal?: AbortSignal,
): Promise<StateRef> {
  const chunks = Math.ceil(plan.totalTokens / plan.chunkTokens);
  const client = await engine.train(engine.base);
  try {
    let last: Pick<ChunkRecord, 'tokens' | 'steps' | 'state'> = { tokens: 0, steps: 0, state: engine.base };
    let loaded = engine.base;
    for (let chunk = 0; chunk < chunks; chunk++) {
      if (signal?.aborted) throw new Interrupted('stopped between two chunks; run the same command again to go on');
      const { tokens, steps, state } = last;
      let replayed = true;
      const record = await scope.once<ChunkRecord>(`chunk/${String(chunk).padStart(4, '0')}`, async () => {
        replayed = false;
        if (!sameState(loaded, state)) await client.load(state);
        const learnt = await trainChunk(client, plan, task, { chunk, chunks, steps });
        loaded = await client.save();
        const measured = chunk === chunks - 1 || chunk % plan.probeEvery === plan.probeEvery - 1;
        const probe = measured ? await task.probe(loaded.policy) : {};
        return {
          tokens: tokens + learnt.tokens,
          steps: steps + learnt.steps,
          loss: learnt.loss,
          state: loaded,
          probe,
        };
      });
      // The chunk's line is written: the state before it is not needed any more.
      await dropState({ engine, blobs: scope.blobs }, state, [engine.base, record.state]);
      last = record;
      report(record, chunk, chunks, replayed);
    }
    return last.state;
  } finally {
    await client.close();
  }
}

/** Trains on the examples of one chunk. `steps` came before it. */
async function trainChunk(
  client: TrainingClient,
  plan: PretrainPlan,
  task: PretrainTask,
  { chunk, chunks, steps }: { readonly chunk: number; readonly chunks: number; readonly steps: number },
): Promise<Pick<ChunkRecord, 'tokens' | 'steps' | 'loss'>> {
  const examples = takeTokens(task.examples(`${plan.seed}/${chunk}`, chunk / chunks), plan.chunkTokens);
  const batches = batchesOf(examples, plan.batchTokens, chunkRng(plan.seed, chunk));
  let loss = 0;
  for (const [i, batch] of batches.entries()) {
    const rate = rateAt(steps + i, (chunk + i / batches.length) / chunks);
    loss += (await client.forwardBackward(batch.map(datumOf(batch)), 'cross_entropy')).loss;
    await client.optimStep({
      learningRate: plan.learningRate * rate,
      muonRate: plan.muonRate * rate,
      beta1: 0.9,
      beta2: 0.97,
      eps: 1e-8,
      weightDecay: 0.01,
      gradClip: 1,
    });
  }
  const tokens = examples.reduce((sum, e) => sum + e.tokens.length, 0);
  return { tokens, steps: batches.length, loss: loss / batches.length };
}

/** Weights are normalised over the batch, so the loss is a mean per weighted token. */
function datumOf(batch: readonly Example[]): (example: Example) => Datum {
  const total = batch.reduce((sum, e) => sum + e.weights.reduce((a, b) => a + b, 0), 0) || 1;
  return ({ tokens, weights }) => ({ tokens, weights: weights.slice(1).map((w) => w / total) });
}
