/**
 * Supervised pre-training of a small base policy. A run like any other: each chunk of tokens is one journal line, so it may
 * be stopped at any time and continues when started again.
 */
import type { Datum, Engine, StateRef } from '../../engine.ts';
import type { Scope } from '../../store.ts';
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

export interface ChunkRecord {
  readonly [key: string]: number | string | StateRef | Readonly<Record<string, number>>;
  readonly tokens: number;
  readonly steps: number;
  readonly loss: number;
  readonly state: StateRef;
  readonly probe: Readonly<Record<string, number>>;
}

export interface PretrainTask {
  /** Endless examples for a point of training (0..1). */
  examples(key: string, progress: number): Iterable<Example>;
  probe(policy: string): Promise<Readonly<Record<string, number>>>;
}

export async function pretrain(
  engine: Engine,
  scope: Scope,
  plan: PretrainPlan,
  task: PretrainTask,
  report: (record: ChunkRecord, chunk: number, chunks: number) => void,
): Promise<StateRef> {
  const client = await engine.train(engine.base);
  const chunks = Math.ceil(plan.totalTokens / plan.chunkTokens);
  let state = engine.base;
  let loaded = state;
  let [tokens, steps] = [0, 0];
  for (let chunk = 0; chunk < chunks; chunk++) {
    const record = await scope.once<ChunkRecord>(`chunk/${String(chunk).padStart(4, '0')}`, async () => {
      if (loaded !== state) await client.load(state);
      const progress = chunk / chunks;
      const examples = takeTokens(task.examples(`${plan.seed}/${chunk}`, progress), plan.chunkTokens);
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
      const next = await client.save();
      const measured = chunk === chunks - 1 || chunk % plan.probeEvery === plan.probeEvery - 1;
      const probe = measured ? await task.probe(next.policy) : {};
      const seen = examples.reduce((sum, e) => sum + e.tokens.length, 0);
      loaded = next;
      return { tokens: tokens + seen, steps: steps + batches.length, loss: loss / batches.length, state: next, probe };
    });
    // The chunk's line is written: the state before it is not needed any more.
    if (state !== engine.base) {
      await scope.blobs.drop(state.policy);
      if (state.optimizer !== null) await scope.blobs.drop(state.optimizer);
    }
    if (loaded.policy === record.state.policy) loaded = record.state;
    state = record.state;
    [tokens, steps] = [record.tokens, record.steps];
    report(record, chunk, chunks);
  }
  await client.close();
  return state;
}

/** Weights are normalised over the batch, so the loss is a mean per weighted token. */
function datumOf(batch: readonly Example[]): (example: Example) => Datum {
  const total = batch.reduce((sum, e) => sum + e.weights.reduce((a, b) => a + b, 0), 0) || 1;
  return ({ tokens, weights }) => ({ tokens, weights: weights.slice(1).map((w) => w / total) });
}
