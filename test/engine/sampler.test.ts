import { beforeAll, describe, expect, it } from 'vitest';
import { initialWeights } from '../../src/engine/local/init.ts';
import { KvPool } from '../../src/engine/local/kv-cache.ts';
import type { ModelConfig } from '../../src/engine/local/qwen3.ts';
import { openRuntime, type Runtime } from '../../src/engine/local/runtime.ts';
import { SampleGraphs } from '../../src/engine/local/sample-graphs.ts';
import { SampleBatch } from '../../src/engine/local/sampler.ts';
import { microBatches, objectiveOf, Trainer } from '../../src/engine/local/trainer.ts';
import type { Completion, SampleRequest } from '../../src/engine.ts';
import { rng } from '../../src/util/rng.ts';

const config: ModelConfig = {
  vocabSize: 40,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  ffSize: 48,
  contextLength: 256,
  ropeTheta: 10000,
  embeddingRate: 20,
};
const theta = initialWeights(config, 5).map((w, i) => w + 0.1 * rng('jitter', i).normal());
const pool = new KvPool();
let runtime: Runtime;
let graphs: SampleGraphs;
beforeAll(async () => {
  runtime = await openRuntime();
  graphs = new SampleGraphs(config, runtime);
});

const prompt = (name: string, length: number): number[] =>
  Array.from({ length }, (_, i) => 2 + rng('prompt', name, i).below(38));
const request = (name: string, length: number, over: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt: prompt(name, length),
  maxTokens: 20,
  temperature: 1,
  topP: 1,
  stop: [0],
  key: name,
  ...over,
});

async function trainerLogprobs(request: SampleRequest, completion: Completion): Promise<number[]> {
  const tokens = [...request.prompt, ...completion.tokens];
  const weights = tokens.slice(1).map((_, t) => (t + 1 >= request.prompt.length ? 1 : 0));
  const trainer = new Trainer(config, runtime);
  const batch = [{ tokens, weights }];
  const [micro] = microBatches(batch);
  const { logprobs } = await trainer.accumulate(theta, batch, micro!, objectiveOf('cross_entropy'));
  await trainer.close();
  return [...logprobs[0]!.slice(request.prompt.length - 1)];
}

const worst = (a: readonly number[], b: readonly number[]): number => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

describe('sampler', () => {
  const requests = [request('a', 3), request('b', 70), request('c', 130), request('d', 9), request('e', 64)];

  it('gives the log-probabilities that the trainer computes', async () => {
    const out = await new SampleBatch(graphs, theta, pool).sample(requests, [0, 1, 2, 3, 4]);
    for (const [i, r] of requests.entries()) {
      expect(worst(out[i]!.logprobs, await trainerLogprobs(r, out[i]!)), r.key).toBeLessThan(1e-4);
    }
  });

  it('draws the same tokens whatever the batch is, with log-probabilities within 1e-5', async () => {
    const together = await new SampleBatch(graphs, theta, pool).sample(requests, [0, 1, 2, 3, 4]);
    for (const [i, r] of requests.entries()) {
      const [alone] = await new SampleBatch(graphs, theta, pool).sample([r], [0]);
      expect(alone!.tokens).toEqual(together[i]!.tokens);
      expect(worst(alone!.logprobs, together[i]!.logprobs)).toBeLessThan(1e-5);
    }
  });

  it('continues conversations from cached turns as if they had been read anew', async () => {
    const batch = new SampleBatch(graphs, theta, pool);
    const first = await batch.sample(requests, [0, 1, 2, 3, 4]);
    // Conversations 1 and 3 are over; the others read a tool result of their own length.
    const next = [0, 2, 4].map((i) => ({
      ...requests[i]!,
      key: `${requests[i]!.key}/2`,
      prompt: [...requests[i]!.prompt, ...first[i]!.tokens, ...prompt(`tool${i}`, 10 + 20 * i)].slice(0, 230),
    }));
    const before = batch.prefilled;
    const out = await batch.sample(next, [0, 2, 4]);
    expect(batch.prefilled - before).toBeLessThan(200);
    for (const [i, r] of next.entries()) {
      const [fresh] = await new SampleBatch(graphs, theta, pool).sample([r], [0]);
      expect(out[i]!.tokens).toEqual(fresh!.tokens);
      expect(worst(out[i]!.logprobs, fresh!.logprobs)).toBeLessThan(1e-4);
    }
  });

  it('gives the same when its buffers were another batch of other rows before', async () => {
    const rows = [request('wide', 90), request('other', 5)];
    const first = new SampleBatch(graphs, theta, new KvPool());
    const reused = new KvPool();
    const before = new SampleBatch(graphs, theta, reused);
    await before.sample(requests, [0, 1, 2, 3, 4]);
    before.close();
    const second = new SampleBatch(graphs, theta, reused);
    expect(await second.sample(rows, [0, 1])).toEqual(await first.sample(rows, [0, 1]));
  });

  it('prefills equal prompts once and still draws from each key', async () => {
    const batch = new SampleBatch(graphs, theta, pool);
    const group = ['g1', 'g2', 'g3', 'g4', 'g5'].map((key) => ({ ...request('same', 50), key }));
    const out = await batch.sample(group, [0, 1, 2, 3, 4]);
    expect(batch.prefilled).toBe(50);
    expect(new Set(out.map((o) => o.tokens.join())).size).toBe(5);
  });

  it('is greedy at temperature 0, and a tiny top-p is greedy too', async () => {
    const greedy = await new SampleBatch(graphs, theta, pool).sample(
      requests.map((r) => ({ ...r, temperature: 0 })),
      [0, 1, 2, 3, 4],
    );
    const nucleus = await new SampleBatch(graphs, theta, pool).sample(
      requests.map((r) => ({ ...r, temperature: 0.7, topP: 1e-6 })),
      [0, 1, 2, 3, 4],
    );
    expect(nucleus.map((o) => o.tokens)).toEqual(greedy.map((o) => o.tokens));
    // Whatever they were drawn with, log-probabilities are those of temperature 1 without top-p.
    nucleus.forEach((o, i) => {
      expect(worst(o.logprobs, greedy[i]!.logprobs)).toBeLessThan(1e-5);
    });
  });

  it('follows the distribution: observed share of the most likely token is its probability', async () => {
    const n = 400;
    const many = Array.from({ length: n }, (_, i) => ({ ...request('fixed', 12), key: `k${i}`, maxTokens: 1 }));
    const out = await new SampleBatch(graphs, theta, pool).sample(
      many,
      many.map((_, i) => i),
    );
    const share = new Map<number, number>();
    for (const o of out) share.set(o.tokens[0]!, (share.get(o.tokens[0]!) ?? 0) + 1 / n);
    for (const o of out.slice(0, 20)) {
      const p = Math.exp(o.logprobs[0]!);
      expect(Math.abs(share.get(o.tokens[0]!)! - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / n) + 1e-3);
    }
  });

  it('stops at maxTokens and at the end of the context', async () => {
    const [short, long] = await new SampleBatch(graphs, theta, pool).sample(
      [request('s', 5, { maxTokens: 3, stop: [] }), request('l', 250, { maxTokens: 50, stop: [] })],
      [0, 1],
    );
    expect([short!.tokens.length, short!.finish]).toEqual([3, 'length']);
    expect([long!.tokens.length, long!.finish]).toEqual([6, 'length']);
  });
});
