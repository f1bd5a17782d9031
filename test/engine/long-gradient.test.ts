/** Sequences longer than one attention block, padded to a common length, against the float64 reference. */
import { expect, it } from 'vitest';
import { layoutOf, type ModelConfig } from '../../src/engine/local/qwen3.ts';
import { openRuntime } from '../../src/engine/local/runtime.ts';
import { microBatches, objectiveOf, Trainer } from '../../src/engine/local/trainer.ts';
import type { Datum } from '../../src/engine.ts';
import { rng } from '../../src/util/rng.ts';
import { noisyWeights } from './fixture.ts';
import { referenceLogprobs } from './reference.ts';

const config: ModelConfig = {
  vocabSize: 13,
  hiddenSize: 8,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  ffSize: 12,
  contextLength: 192,
  ropeTheta: 10000,
  embeddingRate: 1,
};
const layout = layoutOf(config);
// Wide noise: heads that look far back.
const theta = noisyWeights(config, 4).map((w, i) => w + 0.4 * rng('wide', i).normal());

function datum(length: number): Datum {
  const draw = rng('datum', length);
  return {
    tokens: Array.from({ length: length + 1 }, () => draw.below(config.vocabSize)),
    // Every fourth position counts, as in a rollout of which the policy wrote a part.
    weights: Array.from({ length }, (_, t) => (t % 4 === 3 ? draw.normal() : 0)),
  };
}
/** One micro-batch of 3 × 192 positions in three attention blocks; two of its rows are padded. */
const padded = [datum(150), datum(131), datum(192)];

function objective(batch: readonly Datum[], weights: Float64Array): number {
  const named = new Map(layout.tensors.map((t) => [t.name, weights.subarray(t.offset, t.offset + t.size)]));
  return -batch
    .flatMap((d) => referenceLogprobs(config, named, d.tokens).map((logp, t) => d.weights![t]! * logp))
    .reduce((a, b) => a + b, 0);
}

/** Central difference along `direction`. */
function slope(batch: readonly Datum[], direction: Float64Array): number {
  const h = 1e-5;
  const at = (sign: number): number =>
    objective(
      batch,
      Float64Array.from(theta, (w, i) => w + sign * h * direction[i]!),
    );
  return (at(1) - at(-1)) / (2 * h);
}

async function gradient(batch: readonly Datum[]): Promise<{ grad: Float32Array; loss: number; logprobs: number[][] }> {
  const trainer = new Trainer(config, await openRuntime());
  const logprobs: number[][] = [];
  let loss = 0;
  const micros = microBatches(batch);
  expect(micros.map((m) => m.length)).toEqual([192]);
  for (const micro of micros) {
    const part = await trainer.accumulate(theta, batch, micro, objectiveOf('cross_entropy'));
    loss += part.loss;
    micro.rows.forEach((row, k) => {
      logprobs[row] = [...part.logprobs[k]!];
    });
  }
  await trainer.close();
  return { grad: trainer.grad, loss, logprobs };
}

it('rows of 150, 131 and 192 in one micro-batch: loss, log-probabilities, and slopes along random directions', async () => {
  const { grad, loss, logprobs } = await gradient(padded);
  const wide = Float64Array.from(theta);
  expect(Math.abs(loss / objective(padded, wide) - 1)).toBeLessThan(1e-5);
  const named = new Map(layout.tensors.map((t) => [t.name, wide.subarray(t.offset, t.offset + t.size)]));
  padded.forEach((d, row) => {
    referenceLogprobs(config, named, d.tokens).forEach((logp, t) => {
      expect(Math.abs(logprobs[row]![t]! - (d.weights![t] === 0 ? 0 : logp))).toBeLessThan(1e-5);
    });
  });
  for (let k = 0; k < 2; k++) {
    const direction = Float64Array.from(theta, (_, i) => rng('direction', k, i).normal());
    const ours = direction.reduce((sum, v, i) => sum + v * grad[i]!, 0);
    expect(Math.abs(ours / slope(padded, direction) - 1)).toBeLessThan(1e-4);
  }
});

it('one row of 150 positions: the slope along every single tensor', async () => {
  const batch = [datum(150)];
  const { grad } = await gradient(batch);
  for (const t of layout.tensors) {
    const direction = new Float64Array(layout.size);
    const part = grad.subarray(t.offset, t.offset + t.size);
    const norm = Math.hypot(...part);
    // Along our own gradient with some noise: the slope is far from zero, and a wrong gradient shows in it.
    for (let i = 0; i < t.size; i++) direction[t.offset + i] = part[i]! / norm + 0.3 * rng('noise', t.name, i).normal();
    const ours = direction.reduce((sum, v, i) => sum + v * grad[i]!, 0);
    expect(Math.abs(ours / slope(batch, direction) - 1), t.name).toBeLessThan(1e-4);
  }
});
