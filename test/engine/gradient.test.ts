import { describe, expect, it } from 'vitest';
import { initialWeights } from '../../src/engine/local/init.ts';
import { layoutOf, type ModelConfig } from '../../src/engine/local/qwen3.ts';
import { openRuntime } from '../../src/engine/local/runtime.ts';
import { microBatches, objectiveOf, Trainer } from '../../src/engine/local/trainer.ts';
import type { Clip, Datum, Loss } from '../../src/engine.ts';
import { rng } from '../../src/util/rng.ts';
import { referenceLogprobs } from './reference.ts';

const config: ModelConfig = {
  vocabSize: 11,
  hiddenSize: 8,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  ffSize: 12,
  contextLength: 64,
  ropeTheta: 10000,
  embeddingRate: 1,
};
const layout = layoutOf(config);

const theta = initialWeights(config, 3).map((w, i) => w + 0.3 * rng('jitter', i).normal());

const draw = rng('batch');
const datum = (length: number): Datum => {
  const tokens = Array.from({ length: length + 1 }, () => draw.below(config.vocabSize));
  const each = (f: () => number): number[] => Array.from({ length }, () => (draw.uniform() < 0.3 ? 0 : f()));
  return {
    tokens,
    weights: each(() => draw.uniform()),
    advantages: each(() => draw.normal()),
    logprobs: each(() => -2 - draw.uniform()),
    ...(length === 5 ? { targets: Array.from({ length }, () => draw.below(config.vocabSize)) } : {}),
  };
};
const batch = [datum(9), datum(5), datum(7)];

const named = (w: Float64Array): Map<string, Float64Array> =>
  new Map(layout.tensors.map((t) => [t.name, w.subarray(t.offset, t.offset + t.size)]));

/** Where a ratio is a constant it is that at `theta`. */
const start = batch.map((d) => referenceLogprobs(config, named(Float64Array.from(theta)), d.tokens, d.targets));

function objective(loss: Loss, weights: Float64Array, { low, high }: Clip): number {
  let total = 0;
  for (const [i, d] of batch.entries()) {
    referenceLogprobs(config, named(weights), d.tokens, d.targets).forEach((logp, t) => {
      const [w, a, old] = [d.weights![t]!, d.advantages![t]!, d.logprobs![t]!];
      const ratio = Math.exp(logp - old);
      if (loss === 'cross_entropy') total -= w * logp;
      else if (loss === 'importance_sampling') total -= ratio * a;
      else if (loss === 'ppo') total -= Math.min(ratio * a, Math.min(Math.max(ratio, low), high) * a);
      else total -= Math.min(Math.max(Math.exp(start[i]![t]! - old), low), high) * logp * a;
    });
  }
  return total;
}

describe('gradients against a float64 reference', () => {
  const cases: readonly (readonly [Loss, Clip | undefined, Clip])[] = [
    ['cross_entropy', undefined, { low: 0, high: 0 }],
    ['importance_sampling', undefined, { low: 0, high: 0 }],
    ['ppo', undefined, { low: 0.8, high: 1.2 }],
    ['ppo', { low: 0.5, high: 1.1 }, { low: 0.5, high: 1.1 }],
    ['cispo', undefined, { low: 0, high: 4 }],
    ['cispo', { low: 0.9, high: 1.1 }, { low: 0.9, high: 1.1 }],
  ];
  for (const [loss, asked, clip] of cases) {
    it(`${loss}, ratio in ${clip.low} to ${clip.high}: every tensor within 1e-4`, async () => {
      const trainer = new Trainer(config, await openRuntime());
      let total = 0;
      for (const micro of microBatches(batch, 64)) {
        total += (await trainer.accumulate(theta, batch, micro, objectiveOf(loss, asked))).loss;
      }
      const wide = Float64Array.from(theta);
      expect(Math.abs(total - objective(loss, wide, clip)) / Math.abs(total)).toBeLessThan(1e-5);
      for (const t of layout.tensors) {
        let [error, norm] = [0, 0];
        for (let i = t.offset; i < t.offset + t.size; i++) {
          const h = 1e-5;
          const kept = wide[i]!;
          wide[i] = kept + h;
          const above = objective(loss, wide, clip);
          wide[i] = kept - h;
          const below = objective(loss, wide, clip);
          wide[i] = kept;
          const expected = (above - below) / (2 * h);
          error += (trainer.grad[i]! - expected) ** 2;
          norm += expected ** 2;
        }
        expect(Math.sqrt(error / norm), t.name).toBeLessThan(1e-4);
      }
      await trainer.close();
    });
  }
});
