/** Initial weights of a new model, keyed by seed. */
import { rng } from '../../util/rng.ts';
import { layoutOf, type ModelConfig } from './qwen3.ts';

/** Query and key gains start above 1 so that an untrained head can already attend sharply. */
const QK_GAIN = 1.5;

export function initialWeights(c: ModelConfig, seed: number): Float32Array {
  const layout = layoutOf(c);
  const theta = new Float32Array(layout.size);
  for (const t of layout.tensors) {
    const draw = rng('init', seed, t.name);
    const fill = (value: () => number): void => {
      for (let i = 0; i < t.size; i++) theta[t.offset + i] = value();
    };
    if (t.name === 'model.norm.weight') fill(() => 1 / c.embeddingRate);
    else if (t.name.endsWith('q_norm.weight') || t.name.endsWith('k_norm.weight')) fill(() => QK_GAIN);
    else if (t.name.endsWith('norm.weight')) fill(() => 1);
    else if (t.name.includes('embed_tokens')) fill(() => draw.normal() * 0.05 * c.embeddingRate);
    else if (t.name.endsWith('o_proj.weight') || t.name.endsWith('down_proj.weight')) fill(() => 0);
    else fill(() => draw.normal() * t.shape[1]! ** -0.5);
  }
  if (c.embeddingRate !== 1) previousTokenHeads(c, theta);
  return theta;
}

/**
 * Heads 0 and 1 of layer 0 start as previous-token heads: one embedding channel is constant, their queries and keys read it
 * alone, and the query is the key turned back by one or two positions. The architecture is unchanged; look-up forms sooner.
 */
function previousTokenHeads(c: ModelConfig, theta: Float32Array): void {
  const { hiddenSize: d, headDim: dh, vocabSize: V, heads: H, kvHeads: Hk } = c;
  const find = (name: string): number => layoutOf(c).tensors.find((t) => t.name === name)!.offset;
  const channel = d - 1;
  for (let v = 0; v < V; v++) theta[v * d + channel] = c.embeddingRate * 0.05;
  const [q, k] = [find('model.layers.0.self_attn.q_proj.weight'), find('model.layers.0.self_attn.k_proj.weight')];
  const G = H / Hk;
  const half = dh / 2;
  // Only the fast half of the frequencies tells neighbours apart.
  const fast = Math.max(1, Math.floor(half / 2));
  for (let head = 0; head < Math.min(2, H); head++) {
    const lag = head + 1;
    const kv = Math.floor(head / G);
    for (let i = 0; i < dh; i++) {
      for (let j = 0; j < d; j++) {
        theta[q + (head * dh + i) * d + j] = 0;
        theta[k + (kv * dh + i) * d + j] = 0;
      }
    }
    for (let f = 0; f < fast; f++) {
      const angle = -lag * c.ropeTheta ** (-(2 * f) / dh);
      theta[q + (head * dh + f) * d + channel] = Math.cos(angle);
      theta[q + (head * dh + half + f) * d + channel] = Math.sin(angle);
      theta[k + (kv * dh + f) * d + channel] = 1;
    }
  }
}
