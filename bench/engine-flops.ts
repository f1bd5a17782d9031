/**
 * Floating-point operations of the matrix products that the graphs really run: the useful work. Everything else (norms,
 * softmax, activations, sums, copies) counts as nothing, so a share of the GEMM rate shows what it costs.
 */
import type { ModelConfig } from '../src/engine/local/qwen3.ts';

/** Query block of the training graph's attention. */
const BLOCK = 64;

/** 2·rows·in·out, forward; the two products of its derivative cost the same each. */
const product = (rows: number, from: number, to: number): number => 2 * rows * from * to;

/**
 * Forward and backward of `batch` sequences of T targets (T a multiple of 64), `scored` of them in all. Behind the last
 * attention only scored positions are computed.
 */
export function trainingFlops(c: ModelConfig, batch: number, T: number, scored: number): number {
  const [d, q, kv, M] = [c.hiddenSize, c.heads * c.headDim, c.kvHeads * c.headDim, batch * T];
  let forward = product(scored, d, c.vocabSize);
  for (let l = 0; l < c.layers; l++) {
    const rows = l === c.layers - 1 ? scored : M;
    forward += product(M, d, q + 2 * kv) + product(rows, q, d) + 3 * product(rows, d, c.ffSize);
    // Scores and mixing: a block sees the keys up to its own end.
    for (let end = BLOCK; end <= T; end += BLOCK) forward += 2 * batch * product(BLOCK * c.heads, c.headDim, end);
  }
  return 3 * forward;
}

/** One decoding step of `batch` rows over `pages` pages of 64 cached tokens. */
export function decodingFlops(c: ModelConfig, batch: number, pages: number): number {
  const [d, q, kv] = [c.hiddenSize, c.heads * c.headDim, c.kvHeads * c.headDim];
  const layer = product(batch, d, q + 2 * kv) + product(batch, q, d) + 3 * product(batch, d, c.ffSize);
  const attention = 2 * batch * product(c.heads, c.headDim, 64 * pages + 1);
  return c.layers * (layer + attention) + product(batch, d, c.vocabSize);
}
