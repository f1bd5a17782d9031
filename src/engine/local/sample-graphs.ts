/** Graph sessions and weight tensors of the sampler, shared by all batches of a thread. */
import { layoutOf, type ModelConfig } from './qwen3.ts';
import { type Runtime, type Session, type SessionCache, sessionCache, type Tensor } from './runtime.ts';
import { type SampleShape, sampleGraph } from './sample-graph.ts';

export class SampleGraphs {
  readonly config: ModelConfig;
  readonly runtime: Runtime;
  readonly #sessions: SessionCache<string>;

  constructor(config: ModelConfig, runtime: Runtime) {
    this.config = config;
    this.runtime = runtime;
    this.#sessions = sessionCache(runtime);
  }

  session(shape: SampleShape): Promise<Session> {
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

  close(): Promise<void> {
    return this.#sessions.close();
  }
}
