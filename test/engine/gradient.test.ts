import { describe, expect, it } from 'vitest';
import { initialWeights } from '../../src/engine/local/init.ts';
import { layoutOf, type ModelConfig } from '../../src/engine/local/qwen3.ts';
import { openRuntime } from '../../src/engine/local/runtime.ts';
import { microBatches, Trainer } from '../../src/engine/local/trainer.ts';
import type { Datum, Loss } from '../../src/engine.ts';
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
  };
};
const batch = [datum(9), datum(5), datum(7)];

function objective(loss: Loss, weights: Float64Array): number {
  const named = new Map(layout.tensors.map((t) => [t.name, weights.subarray(t.offset, t.offset + t.size)]));
  let total = 0;
  for (const d of batch) {
    referenceLogprobs(config, named, d.tokens).forEach((logp, t) => {
      const [w, a, old] = [d.weights![t]!, d.advantages![t]!, d.logprobs![t]!];
      const ratio = Math.exp(logp - old);
      if (loss === 'cross_entropy') total -= w * logp;
      else if (loss === 'importance_sampling') total -= ratio * a;
      else total -= Math.min(ratio * a, Math.min(Math.max(ratio, 0.8), 1.2) * a);
    });
  }
  return total;
}

describe('gradients against a float64 reference', () => {
  for (const loss of ['cross_entropy', 'importance_sampling', 'ppo'] as const) {
    it(`${loss}: every tensor within 1e-4`, async () => {
      const trainer = new Trainer(config, await openRuntime());
      let total = 0;
      for (const micro of microBatches(batch, 64)) {
        total += (await trainer.accumulate(theta, batch, micro, loss)).loss;
      }
      const wide = Float64Array.from(theta);
      expect(Math.abs(total - objective(loss, wide)) / Math.abs(total)).toBeLessThan(1e-5);
      for (const t of layout.tensors) {
        let [error, norm] = [0, 0];
        for (let i = t.offset; i < t.offset + t.size; i++) {
          const h = 1e-5;
          const kept = wide[i]!;
          wide[i] = kept + h;
          const above = objective(loss, wide);
          wide[i] = kept - h;
          const below = objective(loss, wide);
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
