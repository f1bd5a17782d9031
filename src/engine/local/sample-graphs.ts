/** Runs the sampler's graphs: sessions by shape, weight tensors, feeds. Shared by all batches of a thread. */
import { layoutOf, type ModelConfig } from './qwen3.ts';
import { type Runtime, type Session, type SessionCache, sessionCache, type Tensor } from './runtime.ts';
import { PAGE, pageName, type SampleShape, sampleGraph } from './sample-graph.ts';

/** New tokens of B rows, and what each has cached. */
export interface SampleInput {
  /** [B · fresh] */
  readonly tokens: Int32Array;
  /** [B, fresh] */
  readonly positions: BigInt64Array;
  /** Per row: index in `tokens` of its last valid one. */
  readonly last: Int32Array;
  /** Cached tokens per row. */
  readonly lengths: readonly number[];
  readonly temperature: number;
  /** Keys or values of the rows in one page of the cache; `stream` is 2 · layer + (k: 0, v: 1). */
  readonly page: (page: number, stream: number) => Float32Array;
}

export interface SampleOutput {
  /** [B, vocabulary] at temperature 1, and at the temperature asked for. */
  readonly probs: Float32Array;
  readonly tempered: Float32Array;
  /** Of the new tokens: [2 · layers, B, kvHeads, fresh, headDim]. */
  readonly kv: Float32Array;
}

export class SampleGraphs {
  readonly config: ModelConfig;
  readonly runtime: Runtime;
  readonly #sessions: SessionCache<string>;

  constructor(config: ModelConfig, runtime: Runtime) {
    this.config = config;
    this.runtime = runtime;
    this.#sessions = sessionCache(runtime);
  }

  #session(shape: SampleShape): Promise<Session> {
    const key = `${shape.fresh}/${shape.pages}/${shape.tempered}`;
    return this.#sessions.get(key, () => sampleGraph(this.config, shape));
  }

  weightFeeds(theta: Float32Array): Record<string, Tensor> {
    const { Tensor } = this.runtime.ort;
    return Object.fromEntries(
      layoutOf(this.config).parameters.map((p) => [
        p.input,
        new Tensor('float32', theta.subarray(p.offset, p.offset + p.size), p.shape),
      ]),
    );
  }

  /** @param weights from `weightFeeds`. */
  async run(
    weights: Readonly<Record<string, Tensor>>,
    shape: SampleShape,
    { tokens, positions, last, lengths, temperature, page }: SampleInput,
  ): Promise<SampleOutput> {
    const { config, runtime } = this;
    const { Tensor } = runtime.ort;
    const B = last.length;
    const feeds: Record<string, Tensor> = {
      ...weights,
      tokens: new Tensor('int32', tokens, [tokens.length]),
      positions: new Tensor('int64', positions, [B, shape.fresh]),
    };
    if (shape.fresh > 1) feeds.last = new Tensor('int32', last, [B]);
    if (shape.tempered) feeds.inverse_temperature = new Tensor('float32', new Float32Array([1 / temperature]), []);
    if (shape.pages > 0) {
      const width = shape.pages * PAGE;
      const mask = new Float32Array(B * width);
      lengths.forEach((n, b) => {
        mask.fill(-1e9, b * width + n, (b + 1) * width);
      });
      feeds.past_mask = new Tensor('float32', mask, [B, 1, width]);
    }
    const dims = [B * config.kvHeads, PAGE, config.headDim];
    for (let j = 0; j < shape.pages; j++) {
      for (let l = 0; l < config.layers; l++) {
        feeds[pageName('k', l, j)] = new Tensor('float32', page(j, 2 * l), dims);
        feeds[pageName('v', l, j)] = new Tensor('float32', page(j, 2 * l + 1), dims);
      }
    }
    const out = await (await this.#session(shape)).run(feeds);
    const probs = out.probs!.data as Float32Array;
    return {
      probs,
      tempered: shape.tempered ? (out.tempered!.data as Float32Array) : probs,
      kv: out.kv!.data as Float32Array,
    };
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }
}
