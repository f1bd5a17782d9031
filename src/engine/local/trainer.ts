/**
 * Gradients on one thread: holds one session per sequence length and accumulates into a flat gradient vector.
 * Datums are grouped by length and cut into micro-batches that stay in cache, in an order that depends on the batch alone.
 */
import type { Clip, Datum, Loss } from '../../engine.ts';
import { type Layout, layoutOf, type ModelConfig } from './qwen3.ts';
import { type Runtime, type SessionCache, sessionCache, type Tensor } from './runtime.ts';
import { gradName, trainGraph } from './train-graph.ts';

/** Tokens of one micro-batch: small enough for a core's cache, and a batch of 2 k feeds two workers. */
const MICRO_BATCH_TOKENS = 1024;
const LENGTH_STEP = 32;

const CLIP: Readonly<Record<Loss, Clip>> = {
  cross_entropy: { low: 0, high: 3e38 },
  importance_sampling: { low: 0, high: 3e38 },
  ppo: { low: 0.8, high: 1.2 },
  cispo: { low: 0, high: 4 },
};

/** What is computed of a batch. */
export interface Objective extends Clip {
  readonly loss: Loss;
  /** Are positions without weight and advantage scored too? */
  readonly everywhere: boolean;
  readonly gradients: boolean;
}

export const objectiveOf = (loss: Loss, clip: Clip = CLIP[loss]): Objective => ({
  loss,
  low: clip.low,
  high: clip.high,
  everywhere: false,
  gradients: true,
});

export interface MicroBatch {
  readonly length: number;
  /** Indices into the batch. */
  readonly rows: readonly number[];
}

/** Rows of similar length together, longest first; lengths in steps of 32 up to 128, then of 64. */
export function microBatches(batch: readonly Datum[], maxTokens = MICRO_BATCH_TOKENS): MicroBatch[] {
  const lengthOf = (n: number): number =>
    n <= 128 ? Math.ceil(n / LENGTH_STEP) * LENGTH_STEP : Math.ceil(n / 64) * 64;
  const groups = new Map<number, number[]>();
  batch.forEach((datum, i) => {
    const length = lengthOf(datum.tokens.length - 1);
    groups.set(length, [...(groups.get(length) ?? []), i]);
  });
  return [...groups]
    .sort(([a], [b]) => b - a)
    .flatMap(([length, rows]) => {
      const size = Math.max(1, Math.floor(maxTokens / length));
      const count = Math.ceil(rows.length / size);
      return Array.from({ length: count }, (_, i) => ({ length, rows: rows.slice(i * size, (i + 1) * size) }));
    });
}

export class Trainer {
  readonly layout: Layout;
  readonly grad: Float32Array;
  readonly #config: ModelConfig;
  readonly #runtime: Runtime;
  readonly #sessions: SessionCache<string>;

  constructor(config: ModelConfig, runtime: Runtime) {
    this.#config = config;
    this.#runtime = runtime;
    this.#sessions = sessionCache(runtime);
    this.layout = layoutOf(config);
    this.grad = new Float32Array(this.layout.size);
  }

  clear(): void {
    this.grad.fill(0);
  }

  /**
   * Adds the gradients of `rows` of the batch at weights `theta`. Returns log-probabilities per row (length T, 0 where
   * nothing is scored) and the loss. Without `gradients` it adds nothing.
   */
  async accumulate(
    theta: Float32Array,
    batch: readonly Datum[],
    micro: MicroBatch,
    objective: Objective,
  ): Promise<{ loss: number; logprobs: Float32Array[] }> {
    const { loss, everywhere, gradients } = objective;
    const T = micro.length;
    const data = micro.rows.map((r) => batch[r]!);
    const tokens = new Int32Array(data.length * T);
    const scored: number[] = [];
    const targets: number[] = [];
    const [weight, advantage, old]: [number[], number[], number[]] = [[], [], []];
    data.forEach((datum, b) => {
      const n = datum.tokens.length - 1;
      for (let t = 0; t < n; t++) {
        tokens[b * T + t] = datum.tokens[t]!;
        const w = datum.weights?.[t] ?? 0;
        const a = datum.advantages?.[t] ?? 0;
        if (w === 0 && a === 0 && !everywhere) continue;
        scored.push(b * T + t);
        targets.push(datum.targets?.[t] ?? datum.tokens[t + 1]!);
        weight.push(loss === 'cross_entropy' ? w : 0);
        advantage.push(loss === 'cross_entropy' ? 0 : a);
        old.push(datum.logprobs?.[t] ?? 0);
      }
    });
    const logprobs = data.map((datum) => new Float32Array(datum.tokens.length - 1));
    if (scored.length === 0) return { loss: 0, logprobs };
    const { Tensor } = this.#runtime.ort;
    const float = (xs: number[]): Tensor => new Tensor('float32', Float32Array.from(xs), [xs.length]);
    const int = (xs: ArrayLike<number>): Tensor => new Tensor('int32', Int32Array.from(xs), [xs.length]);
    const scalar = (x: number): Tensor => new Tensor('float32', new Float32Array([x]), []);
    const feeds: Record<string, Tensor> = { tokens: int(tokens), scored: int(scored), targets: int(targets) };
    if (gradients) {
      Object.assign(feeds, {
        weight: float(weight),
        advantage: float(advantage),
        old: float(loss === 'cross_entropy' ? weight.map(() => 0) : old),
        clip_low: scalar(objective.low),
        clip_high: scalar(objective.high),
        detached: new Tensor('bool', [loss === 'cispo'], []),
      });
    }
    for (const t of this.layout.tensors) {
      feeds[t.input] = new Tensor('float32', theta.subarray(t.offset, t.offset + t.size), t.shape);
    }
    const session = await this.#sessions.get(`${T}/${gradients}`, () => trainGraph(this.#config, T, gradients));
    const out = await session.run(feeds);
    const floats = (name: string): Float32Array => out[name]!.data as Float32Array;
    if (gradients) {
      for (const t of this.layout.tensors) {
        if (t.input !== 'embed') addInto(this.grad, t.offset, floats(gradName(t.input)));
      }
      this.#embedding(
        tokens,
        targets,
        floats('embed_by_token'),
        floats('embed_by_target'),
        floats('embed_dense_negative'),
      );
    }
    let total = 0;
    const logp = floats('logp');
    scored.forEach((position, i) => {
      const value = logp[i]!;
      logprobs[Math.floor(position / T)]![position % T] = value;
      total -= tokenObjective(objective, value, weight[i]!, advantage[i]!, old[i]!);
    });
    return { loss: total, logprobs };
  }

  #embedding(
    tokens: Int32Array,
    targets: readonly number[],
    byToken: Float32Array,
    byTarget: Float32Array,
    denseNegative: Float32Array,
  ): void {
    const d = this.#config.hiddenSize;
    const grad = this.grad;
    for (let i = 0; i < denseNegative.length; i++) grad[i] = grad[i]! - denseNegative[i]!;
    scatter(grad, tokens, byToken, d);
    scatter(grad, targets, byTarget, d);
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }
}

function tokenObjective(
  { loss, low, high }: Objective,
  logp: number,
  weight: number,
  advantage: number,
  old: number,
): number {
  if (loss === 'cross_entropy') return weight * logp;
  if (advantage === 0) return 0;
  const ratio = Math.exp(logp - old);
  const clipped = Math.min(Math.max(ratio, low), high) * advantage;
  return loss === 'cispo' ? clipped * logp : Math.min(ratio * advantage, clipped);
}

function addInto(target: Float32Array, offset: number, values: Float32Array): void {
  for (let i = 0; i < values.length; i++) target[offset + i] = target[offset + i]! + values[i]!;
}

/** target[ids[r]] += rows[r], rows of width d at the start of `target` (the embedding is the first parameter). */
function scatter(target: Float32Array, ids: ArrayLike<number>, rows: Float32Array, d: number): void {
  for (let r = 0; r < ids.length; r++) {
    const to = ids[r]! * d;
    const from = r * d;
    for (let i = 0; i < d; i++) target[to + i] = target[to + i]! + rows[from + i]!;
  }
}
