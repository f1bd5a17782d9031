/**
 * The Qwen3 architecture as data: configuration, and where each tensor lies in one flat parameter vector.
 * Projections that read the same input are neighbours, so q/k/v and gate/up can be one matrix each: the sampler wants few
 * products, the trainer wants no copies between them.
 */
import { UserError } from '../../util/error.ts';
import type { Shape } from './onnx.ts';

export interface ModelConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ffSize: number;
  readonly contextLength: number;
  readonly ropeTheta: number;
  /**
   * Learning-rate factor of the embedding (and its inverse of the last norm's gain): small models start with embeddings of
   * unit scale, far larger than their other weights. 1 for checkpoints that come from elsewhere.
   */
  readonly embeddingRate: number;
}

/** One Hugging Face tensor and its place in the flat vector. */
export interface TensorSpec {
  /** Hugging Face name. */
  readonly name: string;
  /** Name as a graph input of its own. */
  readonly input: string;
  readonly shape: Shape;
  readonly offset: number;
  readonly size: number;
}

/** One or several neighbouring tensors seen as one: a graph input of the sampler, a unit of the optimizer. */
export interface ParameterSpec {
  readonly input: string;
  readonly shape: Shape;
  readonly offset: number;
  readonly size: number;
  /** Matrices inside the layers: what Muon updates. */
  readonly matrix: boolean;
  /** Learning-rate factor. */
  readonly rate: number;
}

export interface Layout {
  readonly size: number;
  readonly tensors: readonly TensorSpec[];
  readonly parameters: readonly ParameterSpec[];
}

export function layoutOf(c: ModelConfig): Layout {
  const tensors: TensorSpec[] = [];
  const parameters: ParameterSpec[] = [];
  let offset = 0;
  const parameter = (
    input: string,
    parts: readonly (readonly [input: string, name: string, shape: Shape])[],
    rate = 1,
    matrix = false,
  ): void => {
    const start = offset;
    for (const [part, name, shape] of parts) {
      const size = shape.reduce((a, b) => a * b, 1);
      tensors.push({ name, input: part, shape, offset, size });
      offset += size;
    }
    const rows = parts.reduce((sum, [, , shape]) => sum + shape[0]!, 0);
    const shape = [rows, ...parts[0]![2].slice(1)];
    parameters.push({ input, shape, offset: start, size: offset - start, matrix, rate });
  };
  const single = (input: string, name: string, shape: Shape, rate = 1, matrix = false): void =>
    parameter(input, [[input, name, shape]], rate, matrix);
  const [d, q, kv, f] = [c.hiddenSize, c.heads * c.headDim, c.kvHeads * c.headDim, c.ffSize];
  single('embed', 'model.embed_tokens.weight', [c.vocabSize, d], c.embeddingRate);
  for (let l = 0; l < c.layers; l++) {
    const p = `model.layers.${l}`;
    single(`norm1_${l}`, `${p}.input_layernorm.weight`, [d]);
    const qkv = [
      [`q_${l}`, `${p}.self_attn.q_proj.weight`, [q, d]],
      [`k_${l}`, `${p}.self_attn.k_proj.weight`, [kv, d]],
      [`v_${l}`, `${p}.self_attn.v_proj.weight`, [kv, d]],
    ] as const;
    parameter(`qkv_${l}`, qkv, 1, true);
    single(`qnorm_${l}`, `${p}.self_attn.q_norm.weight`, [c.headDim]);
    single(`knorm_${l}`, `${p}.self_attn.k_norm.weight`, [c.headDim]);
    single(`o_${l}`, `${p}.self_attn.o_proj.weight`, [d, q], 1, true);
    single(`norm2_${l}`, `${p}.post_attention_layernorm.weight`, [d]);
    const gateUp = [
      [`gate_${l}`, `${p}.mlp.gate_proj.weight`, [f, d]],
      [`up_${l}`, `${p}.mlp.up_proj.weight`, [f, d]],
    ] as const;
    parameter(`gateup_${l}`, gateUp, 1, true);
    single(`down_${l}`, `${p}.mlp.down_proj.weight`, [d, f], 1, true);
  }
  single('norm', 'model.norm.weight', [d], 1 / c.embeddingRate);
  return { size: offset, tensors, parameters };
}

/** Cosine and sine tables [length, headDim / 2]. */
export function ropeTables(c: ModelConfig, length: number): { cos: Float32Array; sin: Float32Array } {
  const half = c.headDim / 2;
  const cos = new Float32Array(length * half);
  const sin = new Float32Array(length * half);
  for (let t = 0; t < length; t++) {
    for (let i = 0; i < half; i++) {
      const angle = t * c.ropeTheta ** (-(2 * i) / c.headDim);
      cos[t * half + i] = Math.cos(angle);
      sin[t * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** config.json of a Hugging Face Qwen3 checkpoint. */
export function toHuggingFace(c: ModelConfig): Record<string, unknown> {
  return {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    vocab_size: c.vocabSize,
    hidden_size: c.hiddenSize,
    num_hidden_layers: c.layers,
    num_attention_heads: c.heads,
    num_key_value_heads: c.kvHeads,
    head_dim: c.headDim,
    intermediate_size: c.ffSize,
    max_position_embeddings: c.contextLength,
    rope_theta: c.ropeTheta,
    rms_norm_eps: 1e-6,
    hidden_act: 'silu',
    attention_bias: false,
    tie_word_embeddings: true,
    torch_dtype: 'float32',
    crossfold_embedding_rate: c.embeddingRate,
  };
}

/** Settings that the graphs have built in. */
const FIXED = { rms_norm_eps: 1e-6, hidden_act: 'silu', attention_bias: false, use_sliding_window: false } as const;

export function fromHuggingFace(json: Record<string, unknown>, file: string): ModelConfig {
  const number = (key: string, fallback?: number): number => {
    const value = json[key] ?? fallback;
    if (typeof value !== 'number') throw new UserError(`${file}: ${key} is ${value}; expected a number`);
    return value;
  };
  if (json.model_type !== 'qwen3') {
    throw new UserError(`${file}: model_type is ${json.model_type}; the local engine runs qwen3 checkpoints`);
  }
  if (json.tie_word_embeddings !== true) {
    throw new UserError(`${file}: tie_word_embeddings is not true; the local engine needs tied embeddings`);
  }
  for (const [key, wanted] of Object.entries(FIXED)) {
    const value = json[key] ?? wanted;
    if (value !== wanted) throw new UserError(`${file}: ${key} is ${value}; the local engine computes with ${wanted}`);
  }
  // transformers 5 writes the rotary settings as one object.
  const rope = (json.rope_parameters ?? json.rope_scaling ?? {}) as Record<string, unknown>;
  const kind = rope.rope_type ?? rope.type ?? 'default';
  if (kind !== 'default')
    throw new UserError(`${file}: rope type is ${kind}; the local engine has no scaled positions`);
  const heads = number('num_attention_heads');
  return {
    vocabSize: number('vocab_size'),
    hiddenSize: number('hidden_size'),
    layers: number('num_hidden_layers'),
    heads,
    kvHeads: number('num_key_value_heads', heads),
    headDim: number('head_dim', number('hidden_size') / heads),
    ffSize: number('intermediate_size'),
    contextLength: number('max_position_embeddings'),
    ropeTheta: typeof rope.rope_theta === 'number' ? rope.rope_theta : number('rope_theta', 10000),
    embeddingRate: number('crossfold_embedding_rate', 1),
  };
}
