/**
 * Bodies of the Tinker wire as JSON, with what a receiver may rely on. Unknown fields are left out when a body is read:
 * servers and SDKs of different ages talk to each other. Numbers are finite unless said otherwise.
 */
import { z } from 'zod';

const id = z.string().min(1).max(512);
const int = z.number().int();
/** Shared by all requests of one model; counted from 1. */
const seq = int.min(1).nullish();
const texts = z.record(z.string(), z.unknown()).nullish();

const chunkSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('encoded_text'), tokens: z.array(int) }),
  z.object({ type: z.enum(['image', 'image_asset_pointer', 'dmel']) }),
]);
/** A chunk that is not text is only named: no engine here reads pictures or sound. */
export type Chunk = z.infer<typeof chunkSchema>;
const modelInput = z.object({ chunks: z.array(chunkSchema) });

/** Flat values; the sparse form (CSR) has the two index lists. float32 values are rounded to float32. */
const tensorSchema = z
  .object({
    data: z.array(z.number()),
    dtype: z.enum(['int64', 'float32']),
    shape: z.array(int.min(0)).nullish(),
    sparse_crow_indices: z.array(int).nullish(),
    sparse_col_indices: z.array(int).nullish(),
  })
  .transform((tensor) => (tensor.dtype === 'float32' ? { ...tensor, data: tensor.data.map(Math.fround) } : tensor));
export type Tensor = z.infer<typeof tensorSchema>;

const datum = z.object({ model_input: modelInput, loss_fn_inputs: z.record(z.string(), tensorSchema) });
export type WireDatum = z.infer<typeof datum>;

const lossInput = z.object({
  data: z.array(datum),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.union([z.number(), z.string()])).nullish(),
});
export type LossInput = z.infer<typeof lossInput>;

export const forwardBackwardSchema = z.object({ model_id: id, seq_id: seq, forward_backward_input: lossInput });
export const forwardSchema = z.object({ model_id: id, seq_id: seq, forward_input: lossInput });

/** forward and forward_backward of both encodings. */
export interface LossRequest {
  readonly model_id: string;
  readonly seq_id: number | null;
  readonly forward_only: boolean;
  readonly input: LossInput;
}

export const createSessionSchema = z.object({
  tags: z.array(z.string()).nullish(),
  user_metadata: texts,
  sdk_version: z.string().nullish(),
});
export const heartbeatSchema = z.object({ session_id: id });
const loraSchema = z.object({
  rank: int.min(1),
  seed: int.nullish(),
  train_unembed: z.boolean().default(true),
  train_mlp: z.boolean().default(true),
  train_attn: z.boolean().default(true),
});
export type LoraConfig = z.infer<typeof loraSchema>;
const optimizerKind = z.looseObject({ type: z.string() }).nullish();
export const createModelSchema = z.object({
  session_id: id,
  model_seq_id: int.min(0),
  base_model: z.string(),
  lora_config: loraSchema.nullish(),
  optimizer_config: optimizerKind,
  user_metadata: texts,
});
export const modelSchema = z.object({ model_id: id });

const adamSchema = z.object({
  learning_rate: z.number().min(0).default(1e-4),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.95),
  eps: z.number().min(0).default(1e-12),
  weight_decay: z.number().min(0).default(0),
  grad_clip_norm: z.number().default(0),
});
export const optimStepSchema = z.object({ model_id: id, seq_id: seq, adam_params: adamSchema });

/** Name of a checkpoint: a part of its path and of a file's name. */
const checkpointName = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, 'expected up to 128 letters, digits, "_", "-" or ".", no "." first');
const kept = { ttl_seconds: int.min(1).nullish(), user_metadata: z.record(z.string(), z.string()).nullish() };
export const saveWeightsSchema = z.object({
  model_id: id,
  seq_id: seq,
  path: checkpointName.nullish(),
  overwrite: z.boolean().default(false),
  ...kept,
});
export const saveForSamplerSchema = z
  .object({
    model_id: id,
    seq_id: seq,
    path: checkpointName.nullish(),
    sampling_session_seq_id: int.min(0).nullish(),
    kind: z.string().optional(),
    ...kept,
  })
  .refine((r) => r.path != null || r.sampling_session_seq_id != null, 'needs path or sampling_session_seq_id');
export const loadWeightsSchema = z
  .object({
    model_id: id.nullish(),
    seq_id: seq,
    session_id: id.nullish(),
    model_seq_id: int.min(0).nullish(),
    base_model: z.string().nullish(),
    optimizer_config: optimizerKind,
    user_metadata: texts,
    path: z.string(),
    optimizer: z.boolean(),
  })
  .refine(
    (r) => (r.model_id == null) !== (r.session_id == null || r.model_seq_id == null),
    'needs either model_id, or session_id and model_seq_id',
  );

export const samplingSessionSchema = z.object({
  session_id: id,
  sampling_session_seq_id: int.min(0),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
});
const samplingParamsSchema = z.object({
  max_tokens: int.min(1).nullish(),
  seed: int.nullish(),
  stop: z.union([z.string(), z.array(int), z.array(z.string())]).nullish(),
  temperature: z.number().min(0).default(1),
  top_k: int.min(-1).default(-1),
  top_p: z.number().gt(0).max(1).default(1),
});
export const sampleSchema = z.object({
  prompt: modelInput,
  sampling_params: samplingParamsSchema,
  num_samples: int.min(1).max(4096).default(1),
  sampling_session_id: id.nullish(),
  seq_id: int.min(0).nullish(),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  prompt_logprobs: z.boolean().nullish(),
  prompt_logprobs_last_n: int.min(1).nullish(),
  topk_prompt_logprobs: int.default(0),
  topk_sample_logprobs: int.default(0),
  prompt_alt_tokens_k: int.default(0),
  target_prompt_logprobs: z.unknown().optional(),
});
export type WireSample = z.infer<typeof sampleSchema>;
export const retrieveSchema = z.object({ request_id: id, allow_metadata_only: z.boolean().default(false) });
export const weightsInfoSchema = z.object({ tinker_path: z.string() });

/** Results. */
export interface LossResult {
  readonly loss_fn_output_type: string;
  /** Per datum, tensors by name. */
  readonly loss_fn_outputs: readonly Readonly<Record<string, Tensor>>[];
  /** Names end in ":sum", ":mean", … which says how the parts of a cut batch are merged. */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface SampledSequence {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[] | null;
  readonly stop_reason: 'length' | 'stop';
}

export interface SampleResult {
  readonly sequences: readonly SampledSequence[];
  /** One per prompt token; null where there is none, as for the first. */
  readonly prompt_logprobs?: readonly (number | null)[] | null;
  readonly prompt_cache_hit_tokens?: number;
}
