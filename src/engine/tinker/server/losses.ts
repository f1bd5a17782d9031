/** Training batches of the wire as batches of the engine: alignment, required inputs, ranges. */
import type { Clip, Datum, Loss, LossOptions, LossOutput } from '../../../engine.ts';
import { encodeLossResult } from '../wire/loss-codec.ts';
import type { Chunk, LossInput, LossResult, Tensor, WireDatum } from '../wire/messages.ts';
import type { Result } from './futures.ts';
import { Refusal } from './refusal.ts';

/** What the served model can take. */
export interface ModelLimits {
  readonly contextLength: number;
  readonly vocabSize: number;
}

interface LossRow {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Bounds of the ratio where the request says none. */
  readonly clip: Clip | null;
}

const RATIO = ['target_tokens', 'logprobs', 'advantages'] as const;
const LOSSES: Readonly<Record<Loss, LossRow>> = {
  cross_entropy: { required: ['target_tokens'], optional: ['weights'], clip: null },
  importance_sampling: { required: RATIO, optional: [], clip: null },
  ppo: { required: RATIO, optional: [], clip: { low: 0.8, high: 1.2 } },
  cispo: { required: RATIO, optional: [], clip: { low: 0, high: 4 } },
};

export interface EngineBatch {
  readonly batch: readonly Datum[];
  readonly loss: Loss;
  readonly options: LossOptions;
}

/** @throws Refusal 400 */
export function toBatch({ data, loss_fn, loss_fn_config }: LossInput, limits: ModelLimits): EngineBatch {
  if (!Object.hasOwn(LOSSES, loss_fn))
    throw new Refusal(400, `loss_fn is "${loss_fn}"; expected one of ${Object.keys(LOSSES).join(', ')}`);
  const loss = loss_fn as Loss;
  const clip = clipOf(loss, loss_fn_config ?? {});
  if (data.length === 0) throw new Refusal(400, 'data is empty; expected at least one datum');
  const batch = data.map((datum, i) => toDatum(datum, i, LOSSES[loss], limits));
  return { batch, loss, options: { everywhere: true, ...(clip === null ? {} : { clip }) } };
}

function clipOf(loss: Loss, config: Readonly<Record<string, number | string>>): Clip | null {
  const { clip } = LOSSES[loss];
  const keys = clip === null ? [] : ['clip_low_threshold', 'clip_high_threshold'];
  for (const [key, value] of Object.entries(config)) {
    if (!keys.includes(key)) throw new Refusal(400, `loss_fn_config.${key}: ${loss} has no such setting`);
    if (typeof value !== 'number') throw new Refusal(400, `loss_fn_config.${key} is "${value}"; expected a number`);
  }
  if (clip === null) return null;
  const low = Number(config.clip_low_threshold ?? clip.low);
  const high = Number(config.clip_high_threshold ?? clip.high);
  if (low > high) throw new Refusal(400, `clip_low_threshold ${low} is above clip_high_threshold ${high}`);
  return { low, high };
}

function toDatum({ model_input, loss_fn_inputs }: WireDatum, index: number, row: LossRow, limits: ModelLimits): Datum {
  const where = `datum ${index}`;
  const known = [...row.required, ...row.optional];
  const alien = Object.keys(loss_fn_inputs).find((name) => !known.includes(name));
  if (alien !== undefined) throw new Refusal(400, `${where}: input "${alien}" is none of ${known.join(', ')}`);
  const input = tokensOf(model_input.chunks, where);
  const n = input.length;
  if (n < 1 || n > limits.contextLength)
    throw new Refusal(400, `${where} has ${n} tokens; expected 1 to ${limits.contextLength}`);
  const values = (name: string): readonly number[] | null => {
    const tensor = loss_fn_inputs[name];
    if (tensor !== undefined) return flat(tensor, n, `${where}: ${name}`);
    if (row.required.includes(name)) throw new Refusal(400, `${where} lacks the input "${name}"`);
    return null;
  };
  const targets = values('target_tokens')!;
  checkTokens([...input, ...targets], limits, where);
  const shifted = targets.every((target, t) => t === n - 1 || target === input[t + 1]);
  const rest = row.required.includes('advantages')
    ? { advantages: values('advantages')!, logprobs: values('logprobs')! }
    : { weights: values('weights') ?? targets.map(() => 1) };
  return { tokens: [...input, targets[n - 1]!], ...(shifted ? {} : { targets }), ...rest };
}

/** @throws Refusal 400 for what is no text. */
export function tokensOf(chunks: readonly Chunk[], where: string): number[] {
  return chunks.flatMap((chunk) => {
    if (chunk.type !== 'encoded_text')
      throw new Refusal(400, `${where} has a chunk of type ${chunk.type}; this model reads encoded_text alone`);
    return chunk.tokens;
  });
}

export function checkTokens(tokens: readonly number[], { vocabSize }: ModelLimits, where: string): void {
  const alien = tokens.find((token) => !(token >= 0 && token < vocabSize));
  if (alien !== undefined) throw new Refusal(400, `${where} has token ${alien}; the vocabulary has ${vocabSize}`);
}

/** One number per position. */
function flat(tensor: Tensor, length: number, where: string): readonly number[] {
  const { data, shape, sparse_crow_indices: crow } = tensor;
  if (crow != null || (shape != null && shape.length !== 1))
    throw new Refusal(400, `${where} has ${crow == null ? shape!.length : 'sparse'} dimensions; expected one`);
  if (data.length !== length || (shape != null && shape[0] !== length))
    throw new Refusal(400, `${where} has ${data.length} values; expected ${length}, one per token of model_input`);
  const broken = data.find((value) => !Number.isFinite(value));
  if (broken !== undefined) throw new Refusal(400, `${where} holds ${broken}; expected finite numbers`);
  return data;
}

export function lossResult({ loss, logprobs }: LossOutput): Result {
  const json: LossResult = {
    loss_fn_output_type: 'ArrayRecord',
    loss_fn_outputs: logprobs.map((data) => ({
      logprobs: { data: [...data], dtype: 'float32', shape: [data.length] },
    })),
    metrics: { 'loss:sum': loss },
  };
  return { json, proto: encodeLossResult(json) };
}
