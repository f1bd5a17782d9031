/** Weights in training: gradients by all workers, micro-batches dealt to them by index; the step by the first. */
import type {
  Datum,
  Loss,
  LossOptions,
  LossOutput,
  OptimSettings,
  Policy,
  StateRef,
  TrainingClient,
} from '../../engine.ts';
import { UserError } from '../../util/error.ts';
import type { LocalPolicy } from './policy.ts';
import type { ModelConfig } from './qwen3.ts';
import type { Shared } from './shared.ts';
import { microBatches, type Objective, objectiveOf } from './trainer.ts';

export class LocalTraining implements TrainingClient {
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

  async forwardBackward(batch: readonly Datum[], loss: Loss, options: LossOptions = {}): Promise<LossOutput> {
    const { threads } = this.#shared;
    // A thread overwrites what it is given: gradients that are waiting for the step are added to afterwards.
    const targets = this.#pending ? threads.map(() => new SharedArrayBuffer(this.#theta.byteLength)) : this.#grads;
    const objective = { ...objectiveOf(loss, options.clip), everywhere: options.everywhere ?? false };
    const out = await this.#evaluate(batch, objective, targets);
    if (this.#pending) {
      this.#grads.forEach((grad, t) => {
        addInto(grad, targets[t]!);
      });
    }
    this.#pending = true;
    return out;
  }

  forward(batch: readonly Datum[], loss: Loss, options: LossOptions = {}): Promise<LossOutput> {
    const objective = { ...objectiveOf(loss, options.clip), everywhere: true, gradients: false };
    return this.#evaluate(batch, objective, null);
  }

  /** @param targets per worker, where its gradients go; null for none. */
  async #evaluate(
    batch: readonly Datum[],
    objective: Objective,
    targets: readonly SharedArrayBuffer[] | null,
  ): Promise<LossOutput> {
    const { threads, usage, config } = this.#shared;
    batch.forEach((datum, i) => {
      checkDatum(datum, i, config);
    });
    const micros = microBatches(batch);
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
          grad: targets?.[t] ?? null,
          batch: rows.map((r) => batch[r]!),
          micros: local,
          objective,
        });
        mine.forEach((micro, i) => {
          micro.rows.forEach((row, k) => {
            logprobs[row] = Array.from(out.logprobs[i]![k]!);
          });
        });
        return out.loss;
      }),
    );
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
  for (const field of ['targets', 'weights', 'advantages', 'logprobs'] as const) {
    const length = datum[field]?.length ?? T;
    if (length !== T) throw new UserError(`datum ${index} has ${length} ${field}; expected ${T}, one per target`);
  }
  const alien = [...datum.tokens, ...(datum.targets ?? [])].find((id) => !(id >= 0 && id < vocabSize));
  if (alien !== undefined) throw new UserError(`datum ${index} has token ${alien}; the vocabulary has ${vocabSize}`);
}

function addInto(target: SharedArrayBuffer, values: SharedArrayBuffer): void {
  const [a, b] = [new Float32Array(target), new Float32Array(values)];
  for (let i = 0; i < a.length; i++) a[i] = a[i]! + b[i]!;
}
