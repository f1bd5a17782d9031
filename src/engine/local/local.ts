/**
 * The local engine: Qwen3 checkpoints trained and sampled inside Node by a fixed number of single-threaded workers. Work is
 * dealt to workers by index, never by who is free, so results do not depend on timing or on the number of cores.
 */
import type { Engine, Tokenizer } from '../../engine.ts';
import type { Blobs } from '../../store.ts';
import { LocalPolicy } from './policy.ts';
import { layoutOf, type ModelConfig } from './qwen3.ts';
import { decodeSafetensors, encodeSafetensors } from './safetensors.ts';
import { type Shared, shareable } from './shared.ts';
import { LocalTraining } from './training.ts';
import { WorkerThread } from './worker-thread.ts';

const DEFAULT_WORKERS = 2;
/** Policies kept in memory; others are read again from their blob. */
const KEPT_POLICIES = 12;

export interface LocalOptions {
  readonly config: ModelConfig;
  /** Base weights as one flat vector. */
  readonly weights: Float32Array;
  readonly tokenizer: Tokenizer;
  readonly blobs: Blobs;
  readonly workers?: number;
  readonly prefer?: 'native' | 'wasm';
}

export async function openLocalEngine(options: LocalOptions): Promise<Engine> {
  const { config, workers = DEFAULT_WORKERS, prefer = 'native' } = options;
  const threads = Array.from({ length: workers }, () => new WorkerThread({ config, prefer }));
  try {
    return await engineOf(threads, options);
  } catch (error) {
    await closeAll(threads);
    throw error;
  }
}

async function engineOf(
  threads: readonly WorkerThread[],
  { config, weights, tokenizer, blobs }: LocalOptions,
): Promise<Engine> {
  const [first] = await Promise.all(threads.map((t) => t.call({ op: 'ready' })));
  const layout = layoutOf(config);
  const shared: Shared = { config, layout, threads, blobs, usage: { sampled: 0, prefilled: 0, trained: 0 } };
  const policies = new Map<string, LocalPolicy>();
  const remember = (id: string, theta: Float32Array): LocalPolicy => {
    const policy = new LocalPolicy(id, shareable(theta), shared);
    policies.set(id, policy);
    const [oldest] = policies.keys();
    if (policies.size > KEPT_POLICIES) policies.delete(oldest!);
    return policy;
  };
  const freeze = async (theta: Float32Array): Promise<LocalPolicy> => {
    const id = await blobs.put(encodeSafetensors(layout, theta));
    return policies.get(id) ?? remember(id, theta);
  };
  const policyOf = async (id: string): Promise<LocalPolicy> =>
    policies.get(id) ?? remember(id, decodeSafetensors(layout, await blobs.get(id), `policy ${id}`));
  const base = await freeze(weights);
  return {
    fingerprint: `local/onnxruntime-${first!.version}/${first!.runtime}/workers=${threads.length}`,
    tokenizer,
    base: { policy: base.id, optimizer: null },
    parameters: layout.size,
    contextLength: config.contextLength,
    policy: policyOf,
    async train(state) {
      const client = new LocalTraining(shared, policyOf, freeze);
      await client.load(state);
      return client;
    },
    usage: () => ({ ...shared.usage }),
    busy: () => threads.reduce((sum, thread) => sum + thread.busy(), 0) / threads.length,
    close: () => closeAll(threads),
  };
}

async function closeAll(threads: readonly WorkerThread[]): Promise<void> {
  await Promise.all(threads.map((t) => t.close()));
}
