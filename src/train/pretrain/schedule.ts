/** How pre-training is cut into batches, and the learning rate at each point. Pure. */
import { type Rng, rng } from '../../util/rng.ts';

/** weights[i] is the weight of predicting tokens[i]; 0 for what is only read. */
export interface Example {
  readonly tokens: readonly number[];
  readonly weights: readonly number[];
}

/** Cuts examples into batches of about `batchTokens` tokens (padding included) of similar length, in keyed order. */
export function batchesOf(examples: readonly Example[], batchTokens: number, r: Rng): Example[][] {
  const sorted = [...examples].sort((a, b) => a.tokens.length - b.tokens.length);
  const batches: Example[][] = [];
  let current: Example[] = [];
  for (const example of sorted) {
    if (current.length > 0 && (current.length + 1) * example.tokens.length > batchTokens) {
      batches.push(current);
      current = [];
    }
    current.push(example);
  }
  if (current.length > 0) batches.push(current);
  return r.shuffle(batches);
}

const WARMUP_STEPS = 60;
const HOLD = 0.5;
const FLOOR = 0.02;

/** Factor of the peak rate: linear warm-up, constant until half-way, then linear decay. */
export function rateAt(step: number, progress: number): number {
  const warm = Math.min(1, (step + 1) / WARMUP_STEPS);
  return warm * (progress < HOLD ? 1 : Math.max(FLOOR, (1 - progress) / (1 - HOLD)));
}

/** Examples of one chunk: drawn until they hold `tokens` tokens. */
export function takeTokens(examples: Iterable<Example>, tokens: number): Example[] {
  const out: Example[] = [];
  let count = 0;
  for (const example of examples) {
    out.push(example);
    count += example.tokens.length;
    if (count >= tokens) break;
  }
  return out;
}

export const chunkRng = (seed: number, chunk: number): Rng => rng('pretrain', seed, 'batches', chunk);
