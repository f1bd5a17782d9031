/** Batches of the engine as requests of the wire, and their results: alignment, reductions, parts, checks. Pure. */
import type { Clip, Datum, Loss, LossOptions, LossOutput } from '../../../engine.ts';
import { InfraError } from '../../../util/error.ts';
import { encodeLossRequest } from '../wire/loss-codec.ts';
import type { LossInput, Tensor, WireDatum } from '../wire/messages.ts';
import type { Json } from './futures.ts';
import type { Profile } from './profiles.ts';
import type { Body } from './transport.ts';

/** What one request may hold. */
export interface Caps {
  readonly datums: number;
  readonly bytes: number;
}

/** Those of the official server, where a server says none. */
export const CAPS: Caps = { datums: 1024, bytes: 5_000_000 };

/** Bounds of the ratio where nothing is said: always sent, because servers differ in theirs. */
const CLIPS: Readonly<Partial<Record<Loss, Clip>>> = { ppo: { low: 0.8, high: 1.2 }, cispo: { low: 0, high: 4 } };

/** Bytes of one position in JSON, about: token, target and two numbers. */
const POSITION_BYTES = 48;

const floats = (data: readonly number[]): Tensor => ({ data: [...data], dtype: 'float32', shape: [data.length] });
const ints = (data: readonly number[]): Tensor => ({ data: [...data], dtype: 'int64', shape: [data.length] });

/** T inputs, T targets, and what the loss weighs them with. */
function wireDatum({ tokens, targets, weights, advantages, logprobs }: Datum, loss: Loss): WireDatum {
  const aimed = targets ?? tokens.slice(1);
  const inputs: Record<string, Tensor> =
    loss === 'cross_entropy'
      ? { target_tokens: ints(aimed), weights: floats(weights ?? aimed.map(() => 1)) }
      : { target_tokens: ints(aimed), logprobs: floats(logprobs!), advantages: floats(advantages!) };
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
    loss_fn_inputs: inputs,
  };
}

export function lossInput(batch: readonly Datum[], loss: Loss, { clip = CLIPS[loss] }: LossOptions): LossInput {
  const data = batch.map((datum) => wireDatum(datum, loss));
  const bounds =
    clip === undefined ? {} : { loss_fn_config: { clip_low_threshold: clip.low, clip_high_threshold: clip.high } };
  return { data, loss_fn: loss, ...bounds };
}

/** The request in the server's encoding, and where it goes. */
export function lossRequest(
  input: LossInput,
  { model, seq, forward }: { readonly model: string; readonly seq: number; readonly forward: boolean },
  encoding: Profile['encoding'],
): Body {
  if (encoding === 'proto') return encodeLossRequest({ model_id: model, seq_id: seq, forward_only: forward, input });
  const field = forward ? 'forward_input' : 'forward_backward_input';
  return { model_id: model, seq_id: seq, [field]: input };
}

/** Runs of datums within the caps, in order; a datum that is too big alone goes alone. */
export function chunksOf(batch: readonly Datum[], { datums, bytes }: Caps): Datum[][] {
  const out: Datum[][] = [];
  let size = 0;
  for (const datum of batch) {
    const cost = datum.tokens.length * POSITION_BYTES;
    const last = out.at(-1);
    if (last !== undefined && last.length < datums && size + cost <= bytes) {
      last.push(datum);
      size += cost;
    } else {
      out.push([datum]);
      size = cost;
    }
  }
  return out;
}

/**
 * A batch whose mean over sequences of means over tokens has the gradient of the sum: each advantage times T·N.
 * Exact where an optimizer step follows on one batch; after several, each is weighed by its share of all sequences.
 */
export const scaledForMean = (batch: readonly Datum[]): Datum[] =>
  batch.map((datum) => ({
    ...datum,
    advantages: datum.advantages!.map((a) => a * (datum.tokens.length - 1) * batch.length),
  }));

/** The same gradient as cross_entropy, at ratio 1: for servers that divide by the sum of the weights. */
export const asPolicyGradient = (batch: readonly Datum[], logprobs: LossOutput['logprobs']): Datum[] =>
  batch.map(({ tokens, targets, weights }, i) => ({
    tokens,
    ...(targets === undefined ? {} : { targets }),
    advantages: weights ?? logprobs[i]!.map(() => 1),
    logprobs: logprobs[i]!,
  }));

/** Log-probabilities of each datum of a result. @throws InfraError where they are missing or are none. */
export function readLogprobs(result: Json, batch: readonly Datum[], name: string): number[][] {
  const outputs = result.loss_fn_outputs;
  if (!Array.isArray(outputs) || outputs.length !== batch.length)
    throw new InfraError(
      `${name}: the server gave ${Array.isArray(outputs) ? outputs.length : 'no'} outputs for ${batch.length} sequences`,
    );
  const all = batch.map((datum, i) => {
    const data: unknown = (outputs[i] as { logprobs?: { data?: unknown } } | null)?.logprobs?.data;
    const T = datum.tokens.length - 1;
    if (!Array.isArray(data) || data.length !== T || !data.every((x) => typeof x === 'number' && Number.isFinite(x)))
      throw new InfraError(
        `${name}: log-probabilities of sequence ${i} are ${Array.isArray(data) ? `${data.length} values` : 'missing'}; expected ${T} finite numbers`,
      );
    return data as number[];
  });
  if (areZeroFilled(all.flat())) throw new InfraError(`${name}: the server gave 0 for every log-probability`);
  return all;
}

/** Zeros stand where a server has none. A few tokens that are certain are zeros too. */
export const areZeroFilled = (logprobs: readonly number[]): boolean =>
  logprobs.length >= 32 && logprobs.every((x) => x === 0);

/** The loss as engine.ts defines it, at the weights that gave `logprobs`. */
export function lossOf(
  batch: readonly Datum[],
  logprobs: LossOutput['logprobs'],
  loss: Loss,
  options: LossOptions,
): number {
  const { low, high } = options.clip ?? CLIPS[loss] ?? { low: 0, high: Number.POSITIVE_INFINITY };
  let sum = 0;
  batch.forEach((datum, d) => {
    logprobs[d]!.forEach((p, t) => {
      if (loss === 'cross_entropy') {
        sum -= (datum.weights?.[t] ?? 1) * p;
        return;
      }
      const a = datum.advantages![t]!;
      if (a === 0) return;
      const ratio = Math.exp(p - datum.logprobs![t]!);
      const clipped = Math.min(high, Math.max(low, ratio));
      if (loss === 'importance_sampling') sum -= ratio * a;
      else if (loss === 'ppo') sum -= Math.min(ratio * a, clipped * a);
      else sum -= clipped * p * a;
    });
  });
  return sum;
}
