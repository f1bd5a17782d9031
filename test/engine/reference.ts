/**
 * The Qwen3 forward pass in float64, one number at a time, written from the architecture's description and sharing no code
 * with the engine. Gradients come from central differences of it.
 */
import type { ModelConfig } from '../../src/engine/local/qwen3.ts';

type Weights = ReadonlyMap<string, Float64Array>;

const matvec = (w: Float64Array, x: number[], out: number): number[] =>
  Array.from({ length: out }, (_, o) => x.reduce((sum, v, i) => sum + v * w[o * x.length + i]!, 0));

const rmsNorm = (x: number[], gain: Float64Array): number[] => {
  const inv = 1 / Math.sqrt(x.reduce((s, v) => s + v * v, 0) / x.length + 1e-6);
  return x.map((v, i) => v * inv * gain[i]!);
};

const rotate = (x: number[], t: number, theta: number): number[] => {
  const half = x.length / 2;
  return x.map((v, i) => {
    const f = i % half;
    const angle = t * theta ** (-(2 * f) / x.length);
    const other = i < half ? -x[i + half]! : x[i - half]!;
    return v * Math.cos(angle) + other * Math.sin(angle);
  });
};

/** log p(targets[t] | tokens[..t]) for each t; targets are the next tokens where nothing else is said. */
export function referenceLogprobs(
  c: ModelConfig,
  w: Weights,
  tokens: readonly number[],
  targets: readonly number[] = tokens.slice(1),
): number[] {
  const get = (name: string): Float64Array => w.get(name)!;
  const T = tokens.length - 1;
  const embed = get('model.embed_tokens.weight');
  const x = Array.from({ length: T }, (_, t) =>
    Array.from({ length: c.hiddenSize }, (_, i) => embed[tokens[t]! * c.hiddenSize + i]!),
  );
  const group = c.heads / c.kvHeads;
  for (let l = 0; l < c.layers; l++) {
    const p = `model.layers.${l}`;
    const heads = (t: number, name: string, n: number, norm: string | null): number[][] => {
      const y = matvec(
        get(`${p}.self_attn.${name}_proj.weight`),
        rmsNorm(x[t]!, get(`${p}.input_layernorm.weight`)),
        n * c.headDim,
      );
      return Array.from({ length: n }, (_, h) => {
        const head = y.slice(h * c.headDim, (h + 1) * c.headDim);
        return norm ? rotate(rmsNorm(head, get(`${p}.self_attn.${norm}.weight`)), t, c.ropeTheta) : head;
      });
    };
    const q = x.map((_, t) => heads(t, 'q', c.heads, 'q_norm'));
    const k = x.map((_, t) => heads(t, 'k', c.kvHeads, 'k_norm'));
    const v = x.map((_, t) => heads(t, 'v', c.kvHeads, null));
    for (let t = 0; t < T; t++) {
      const merged: number[] = [];
      for (let h = 0; h < c.heads; h++) {
        const kv = Math.floor(h / group);
        const scores = Array.from(
          { length: t + 1 },
          (_, s) => q[t]![h]!.reduce((sum, a, i) => sum + a * k[s]![kv]![i]!, 0) / Math.sqrt(c.headDim),
        );
        const top = Math.max(...scores);
        const e = scores.map((s) => Math.exp(s - top));
        const z = e.reduce((a, b) => a + b, 0);
        for (let i = 0; i < c.headDim; i++) merged.push(e.reduce((sum, a, s) => sum + (a / z) * v[s]![kv]![i]!, 0));
      }
      const o = matvec(get(`${p}.self_attn.o_proj.weight`), merged, c.hiddenSize);
      x[t] = x[t]!.map((a, i) => a + o[i]!);
    }
    for (let t = 0; t < T; t++) {
      const h = rmsNorm(x[t]!, get(`${p}.post_attention_layernorm.weight`));
      const gate = matvec(get(`${p}.mlp.gate_proj.weight`), h, c.ffSize);
      const up = matvec(get(`${p}.mlp.up_proj.weight`), h, c.ffSize);
      const down = matvec(
        get(`${p}.mlp.down_proj.weight`),
        gate.map((a, i) => (a / (1 + Math.exp(-a))) * up[i]!),
        c.hiddenSize,
      );
      x[t] = x[t]!.map((a, i) => a + down[i]!);
    }
  }
  return x.map((row, t) => {
    const logits = matvec(embed, rmsNorm(row, get('model.norm.weight')), c.vocabSize);
    const top = Math.max(...logits);
    return logits[targets[t]!]! - top - Math.log(logits.reduce((s, a) => s + Math.exp(a - top), 0));
  });
}
