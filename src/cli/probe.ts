/** Generate, train, generate on a tiny random model: does the engine work on this machine? */
import { initialWeights } from '../engine/local/init.ts';
import { openLocalEngine } from '../engine/local/local.ts';
import type { ModelConfig } from '../engine/local/qwen3.ts';
import { scriptedTokenizer } from '../engine/scripted.ts';
import type { Completion, Engine, Policy } from '../engine.ts';
import { memoryBlobs } from './memory-blobs.ts';

const MODEL: ModelConfig = {
  vocabSize: 64,
  hiddenSize: 32,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headDim: 16,
  ffSize: 64,
  contextLength: 64,
  ropeTheta: 10_000,
  embeddingRate: 1,
};
const PROMPT = [1, 2, 3, 4];
const TARGET = [1, 2, 3, 4, 5, 6, 7, 8];
const LIMIT_S = 60;
const OPTIM = { learningRate: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, gradClip: 1 };

/** A line about what happened. Throws when a number is none, when training does not lower the loss, or when it hangs. */
export async function probe(): Promise<string> {
  const opened: Engine[] = [];
  const work = async (): Promise<string> => {
    const weights = initialWeights(MODEL, 1);
    const tokenizer = scriptedTokenizer([]);
    const engine = await openLocalEngine({ config: MODEL, weights, tokenizer, blobs: memoryBlobs(), workers: 1 });
    opened.push(engine);
    return exercise(engine);
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came back in ${LIMIT_S} s`)), LIMIT_S * 1000);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
    // Ends its thread too, should that hang.
    for (const engine of opened) await engine.close();
  }
}

async function exercise(engine: Engine): Promise<string> {
  const before = await sampleOnce(await engine.policy(engine.base.policy));
  const client = await engine.train(engine.base);
  const datum = { tokens: TARGET, weights: TARGET.slice(1).map(() => 1 / (TARGET.length - 1)) };
  const { loss } = await client.forwardBackward([datum], 'cross_entropy');
  const { gradNorm } = await client.optimStep(OPTIM);
  const after = await sampleOnce(await client.snapshot());
  const { loss: later } = await client.forwardBackward([datum], 'cross_entropy');
  await client.close();
  for (const [name, value] of Object.entries({ loss, gradNorm, later })) {
    if (!Number.isFinite(value)) throw new Error(`${name} is ${value}`);
  }
  if (later >= loss) throw new Error(`a training step did not lower the loss (${loss} before, ${later} after)`);
  return `${before.tokens.length + after.tokens.length} tokens sampled, loss ${loss.toFixed(2)} to ${later.toFixed(2)} in one step`;
}

async function sampleOnce(policy: Policy): Promise<Completion> {
  const session = policy.open(1);
  try {
    const request = { prompt: PROMPT, maxTokens: 8, temperature: 1, topP: 1, stop: [], key: 'probe' };
    const [completion] = await session.sample([request], [0]);
    if (!completion!.logprobs.every(Number.isFinite)) throw new Error('a sampled log-probability is not a number');
    return completion!;
  } finally {
    await session.close();
  }
}
