/** A tiny model, an engine over it, and blobs in memory. */
import { memoryBlobs } from '../../src/cli/memory-blobs.ts';
import { initialWeights } from '../../src/engine/local/init.ts';
import { type LocalOptions, openLocalEngine } from '../../src/engine/local/local.ts';
import type { ModelConfig } from '../../src/engine/local/qwen3.ts';
import { scriptedTokenizer } from '../../src/engine/scripted.ts';
import type { Engine, OptimSettings, SampleRequest } from '../../src/engine.ts';
import { rng } from '../../src/util/rng.ts';

export const TINY: ModelConfig = {
  vocabSize: 24,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  ffSize: 48,
  contextLength: 192,
  ropeTheta: 10000,
  embeddingRate: 20,
};

/** Initial weights moved by noise, so that no matrix is zero. */
export const noisyWeights = (config: ModelConfig, seed: number): Float32Array =>
  initialWeights(config, seed).map((w, i) => w + 0.1 * rng('noise', seed, i).normal());

export { memoryBlobs };

export const openTiny = (over: Partial<LocalOptions> = {}): Promise<Engine> =>
  openLocalEngine({
    config: TINY,
    weights: noisyWeights(TINY, 1),
    tokenizer: scriptedTokenizer([]),
    blobs: memoryBlobs(),
    ...over,
  });

export const ADAM: OptimSettings = {
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  gradClip: 0,
};

/** `length` tokens of TINY's vocabulary without 0, a function of the name. */
export const tokensOf = (name: string, length: number): number[] => {
  const draw = rng('tokens', name);
  return Array.from({ length }, () => 1 + draw.below(TINY.vocabSize - 1));
};

export const request = (key: string, prompt: readonly number[], over: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt,
  maxTokens: 12,
  temperature: 1,
  topP: 1,
  stop: [0],
  key,
  ...over,
});

export const furthest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));
