/**
 * The local engine: Qwen3 checkpoints trained and sampled inside Node by a fixed number of single-threaded workers. Work is
 * dealt to workers by index, never by who is free, so results do not depend on timing or on the number of cores.
 */
import type {
  Completion,
  Datum,
  Engine,
  Loss,
  LossOutput,
  OptimSettings,
  Policy,
  SampleRequest,
  SamplingSession,
  StateRef,
  Tokenizer,
  TrainingClient,
  Usage,
} from '../../engine.ts';
import type { Blobs } from '../../store.ts';
import { UserError } from '../../util/error.ts';
import { type Layout, layoutOf, type ModelConfig } from './qwen3.ts';
import { decodeSafetensors, encodeSafetensors } from './safetensors.ts';
import { microBatches } from './trainer.ts';
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
  const { config, tokenizer, blobs } = options;
  const prefer = options.prefer ?? 'native';
  const count = options.workers ?? DEFAULT_WORKERS;
  const threads = Array.from({ length: count }, () => new WorkerThread({ config, prefer }));
  const [first] = await Promise.all(threads.map((t) => t.call({ op: 'ready' })));
  const shared: Shared = {
    config,
    layout: layoutOf(config),
    threads,
    blobs,
    usage: { sampled: 0, prefilled: 0, trained: 0 },
  };
  const policies = new Map<string, LocalPolicy>();
  const freeze = async (theta: Float32Array): Promise<LocalPolicy> => {
    const id = await blobs.put(encodeSafetensors(shared.layout, theta));
    return policies.get(id) ?? remember(new LocalPolicy(id, shareable(theta), shared));
  };
  const remember = (policy: LocalPolicy): LocalPolicy => {
    policies.set(policy.id, policy);
    const [oldest] = policies.keys();
    if (policies.size > KEPT_POLICIES) policies.delete(oldest!);
    return policy;
  };
  const policy = async (id: string): Promise<LocalPolicy> =>
    policies.get(id) ??
    remember(
      new LocalPolicy(id, shareable(decodeSafetensors(shared.layout, await blobs.get(id), `policy ${id}`)), shared),
    );
  const base = await freeze(options.weights);
  return {
    fingerprint: `local/onnxruntime-${first!.version}/${first!.runtime}/workers=${count}`,
    tokenizer,
    base: { policy: base.id, optimizer: null },
    parameters: shared.layout.size,
    contextLength: config.contextLength,
    policy,
    async train(state) {
      const client = new LocalTraining(shared, policy, freeze);
      await client.load(state);
      return client;
    },
    usage: () => ({ ...shared.usage }),
    async close() {
      await Promise.all(threads.map((t) => t.close()));
    },
  };
}

interface Shared {
  readonly config: ModelConfig;
  readonly layout: Layout;
  readonly threads: readonly WorkerThread[];
  readonly blobs: Blobs;
  readonly usage: { -readonly [K in keyof Usage]: Usage[K] };
}

function shareable(values: Float32Array): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(values.byteLength);
  new Float32Array(buffer).set(values);
  return buffer;
}

let nextBatch = 0;

class LocalPolicy implements Policy {
  readonly id: string;
  readonly theta: SharedArrayBuffer;
  readonly #shared: Shared;

  constructor(id: string, theta: SharedArrayBuffer, shared: Shared) {
    this.id = id;
    this.theta = theta;
    this.#shared = shared;
  }

  open(size: number): SamplingSession {
    const { threads, usage } = this.#shared;
    const batch = nextBatch++;
    const opened = Promise.all(threads.map((t) => t.call({ op: 'open', batch, theta: this.theta })));
    // A failed opening is reported by the first sample.
    opened.catch(() => {});
    // Neighbouring conversations share a worker, so a group's common prompt is prefilled once.
    const threadOf = (lane: number): number => Math.min(threads.length - 1, Math.floor((lane * threads.length) / size));
    return {
      async sample(requests: readonly SampleRequest[], lane: readonly number[]) {
        await opened;
        const out: Completion[] = new Array(requests.length);
        await Promise.all(
          threads.map(async (thread, t) => {
            const mine = requests.map((_, i) => i).filter((i) => threadOf(lane[i]!) === t);
            if (mine.length === 0) return;
            const result = await thread.call({
              op: 'sample',
              batch,
              requests: mine.map((i) => requests[i]!),
              lanes: mine.map((i) => lane[i]!),
            });
            mine.forEach((i, k) => {
              out[i] = result.completions[k]!;
            });
            usage.sampled += result.usage.sampled;
            usage.prefilled += result.usage.prefilled;
          }),
        );
        return out;
      },
      async close() {
        await opened;
        await Promise.all(threads.map((t) => t.call({ op: 'close', batch })));
      },
    };
  }
}

class LocalTraining implements TrainingClient {
  readonly #shared: Shared;
  readonly #policy: (id: string) => Promise<LocalPolicy>;
  readonly #freeze: (theta: Float32Array) => Promise<LocalPolicy>;
  readonly #theta: SharedArrayBuffer;
  readonly #m: SharedArrayBuffer;
  readonly #v: SharedArrayBuffer;
  /** Per worker: gradients since the last optimizer step. */
  readonly #grads: readonly SharedArrayBuffer[];
  #pending = false;
  #step = 0;

  constructor(
    shared: Shared,
    policy: (id: string) => Promise<LocalPolicy>,
    freeze: (t: Float32Array) => Promise<LocalPolicy>,
  ) {
    this.#shared = shared;
    this.#policy = policy;
    this.#freeze = freeze;
    const vector = (): SharedArrayBuffer => new SharedArrayBuffer(shared.layout.size * 4);
    [this.#theta, this.#m, this.#v] = [vector(), vector(), vector()];
    this.#grads = shared.threads.map(vector);
  }

  async forwardBackward(batch: readonly Datum[], loss: Loss): Promise<LossOutput> {
    const { threads, usage, config } = this.#shared;
    batch.forEach((datum, i) => {
      checkDatum(datum, i, config);
    });
    const micros = microBatches(batch);
    const scratch = threads.map(() => new SharedArrayBuffer(this.#theta.byteLength));
    const logprobs: (readonly number[])[] = new Array(batch.length);
    const parts = await Promise.all(
      threads.map(async (thread, t) => {
        const mine = micros.filter((_, i) => i % threads.length === t);
        if (mine.length === 0) return 0;
        // Only the datums of this worker travel.
        const rows = mine.flatMap((micro) => micro.rows);
        let next = 0;
        const local = mine.map((micro) => ({ length: micro.length, rows: micro.rows.map(() => next++) }));
        const out = await thread.call({
          op: 'accumulate',
          theta: this.#theta,
          grad: this.#pending ? scratch[t]! : this.#grads[t]!,
          batch: rows.map((r) => batch[r]!),
          micros: local,
          loss,
        });
        mine.forEach((micro, i) => {
          micro.rows.forEach((row, k) => {
            logprobs[row] = Array.from(out.logprobs[i]![k]!);
          });
        });
        return out.loss;
      }),
    );
    if (this.#pending) {
      this.#grads.forEach((grad, t) => {
        addInto(grad, scratch[t]!);
      });
    }
    this.#pending = true;
    usage.trained += batch.reduce((sum, d) => sum + d.tokens.length - 1, 0);
    return { loss: parts.reduce((a, b) => a + b, 0), logprobs };
  }

  async optimStep(settings: OptimSettings): Promise<{ readonly gradNorm: number }> {
    this.#step++;
    const result = await this.#shared.threads[0]!.call({
      op: 'step',
      state: { theta: this.#theta, m: this.#m, v: this.#v },
      grads: this.#grads,
      step: this.#step - 1,
      settings,
    });
    this.#clear();
    return result;
  }

  #clear(): void {
    for (const grad of this.#grads) new Float32Array(grad).fill(0);
    this.#pending = false;
  }

  snapshot(): Promise<Policy> {
    return this.#freeze(Float32Array.from(new Float32Array(this.#theta)));
  }

  async save(): Promise<StateRef> {
    const policy = await this.snapshot();
    const size = this.#shared.layout.size;
    const bytes = new Uint8Array(8 + 8 * size);
    new DataView(bytes.buffer).setFloat64(0, this.#step, true);
    bytes.set(new Uint8Array(this.#m), 8);
    bytes.set(new Uint8Array(this.#v), 8 + 4 * size);
    return { policy: policy.id, optimizer: await this.#shared.blobs.put(bytes) };
  }

  async load(state: StateRef): Promise<void> {
    const policy = await this.#policy(state.policy);
    new Float32Array(this.#theta).set(new Float32Array(policy.theta));
    this.#clear();
    this.#step = 0;
    new Float32Array(this.#m).fill(0);
    new Float32Array(this.#v).fill(0);
    if (state.optimizer === null) return;
    const bytes = Uint8Array.from(await this.#shared.blobs.get(state.optimizer));
    const size = this.#shared.layout.size;
    this.#step = new DataView(bytes.buffer).getFloat64(0, true);
    new Float32Array(this.#m).set(new Float32Array(bytes.buffer, 8, size));
    new Float32Array(this.#v).set(new Float32Array(bytes.buffer, 8 + 4 * size, size));
  }

  async close(): Promise<void> {}
}

function checkDatum(datum: Datum, index: number, { contextLength, vocabSize }: ModelConfig): void {
  const T = datum.tokens.length - 1;
  if (T < 1 || T > contextLength) {
    throw new UserError(
      `datum ${index} has ${T + 1} tokens; expected 2 to ${contextLength + 1} (the context and a target)`,
    );
  }
  for (const field of ['weights', 'advantages', 'logprobs'] as const) {
    const length = datum[field]?.length ?? T;
    if (length !== T) throw new UserError(`datum ${index} has ${length} ${field}; expected ${T}, one per target`);
  }
  const alien = datum.tokens.find((id) => !(id >= 0 && id < vocabSize));
  if (alien !== undefined) throw new UserError(`datum ${index} has token ${alien}; the vocabulary has ${vocabSize}`);
}

function addInto(target: SharedArrayBuffer, values: SharedArrayBuffer): void {
  const [a, b] = [new Float32Array(target), new Float32Array(values)];
  for (let i = 0; i < a.length; i++) a[i] = a[i]! + b[i]!;
}
