/** Sampling requests of the wire as requests of the engine, and completions as results. Pure. */
import type { Completion, SampleRequest, Tokenizer } from '../../../engine.ts';
import type { SampledSequence, SampleResult, WireSample } from '../wire/messages.ts';
import { encodeSampleResult } from '../wire/sample-codec.ts';
import type { Result } from './futures.ts';
import { checkTokens, type ModelLimits, tokensOf } from './losses.ts';
import { Refusal } from './refusal.ts';

/** A request that was checked. */
export interface SamplePlan {
  readonly prompt: readonly number[];
  /** One per sample asked for. */
  readonly requests: readonly SampleRequest[];
  /** Texts that end a completion. */
  readonly stopTexts: readonly string[];
  /** Prompt tokens from the end whose log-probabilities are wanted. */
  readonly scored: number;
}

/**
 * Sample i of a request is a function of weights, prompt, seed and i: whatever else is sampled with it changes nothing.
 * @param eos ids that end a completion where the request names no ids; an empty list of stops switches them off.
 * @param fallback seed of a request that has none.
 * @throws Refusal 400
 */
export function planSample(
  sample: WireSample,
  {
    limits,
    eos,
    fallback,
  }: { readonly limits: ModelLimits; readonly eos: readonly number[]; readonly fallback: string },
): SamplePlan {
  refuseUnknown(sample);
  const { stop, max_tokens, temperature, top_p, top_k, seed } = sample.sampling_params;
  const prompt = tokensOf(sample.prompt.chunks, 'prompt');
  if (prompt.length < 1 || prompt.length >= limits.contextLength)
    throw new Refusal(400, `the prompt has ${prompt.length} tokens; expected 1 to ${limits.contextLength - 1}`);
  checkTokens(prompt, limits, 'prompt');
  const stops = typeof stop === 'string' ? [stop] : stop;
  const stopTexts = (stops ?? []).filter((s): s is string => typeof s === 'string');
  if (stopTexts.includes('')) throw new Refusal(400, 'stop has an empty string; expected text');
  const ids = stops == null || stopTexts.length > 0 ? eos : stops.filter((s): s is number => typeof s === 'number');
  const requests = Array.from({ length: sample.num_samples }, (_, i) => ({
    prompt,
    maxTokens: Math.min(max_tokens ?? limits.contextLength, limits.contextLength - prompt.length),
    temperature,
    topP: top_p,
    ...(top_k > 0 ? { topK: top_k } : {}),
    stop: ids,
    key: `${seed ?? fallback}/${i}`,
  }));
  const last = sample.prompt_logprobs_last_n ?? prompt.length;
  return { prompt, requests, stopTexts, scored: sample.prompt_logprobs === true ? Math.min(last, prompt.length) : 0 };
}

function refuseUnknown(sample: WireSample): void {
  for (const name of ['topk_prompt_logprobs', 'topk_sample_logprobs', 'prompt_alt_tokens_k'] as const)
    if (sample[name] > 0) throw new Refusal(400, `${name} is ${sample[name]}; this server has only 0`);
  if (sample.target_prompt_logprobs != null)
    throw new Refusal(400, 'target_prompt_logprobs is not offered by this server');
}

/** @param scores log-probabilities of prompt[1..]; null where none were asked for. */
export function sampleResult(
  plan: SamplePlan,
  completions: readonly Completion[],
  scores: readonly number[] | null,
  tokenizer: Tokenizer,
): Result {
  const result: SampleResult = {
    sequences: completions.map((completion) => cut(completion, plan.stopTexts, tokenizer)),
    prompt_logprobs:
      scores === null
        ? null
        : [null, ...scores].map((value, i) => (i < plan.prompt.length - plan.scored ? null : value)),
    prompt_cache_hit_tokens: 0,
  };
  const json = { ...result, topk_prompt_logprobs: null, type: 'sample' };
  return { json, proto: encodeSampleResult(result) };
}

/** Ends a completion with the token that completes the first stop text. */
function cut(
  { tokens, logprobs, finish }: Completion,
  texts: readonly string[],
  tokenizer: Tokenizer,
): SampledSequence {
  const text = texts.length === 0 ? '' : tokenizer.decode(tokens);
  const ends = texts.flatMap((stop) => {
    const at = text.indexOf(stop);
    return at < 0 ? [] : [at + stop.length];
  });
  if (ends.length === 0) return { tokens, logprobs: logprobs.map(Math.fround), stop_reason: finish };
  const end = Math.min(...ends);
  const count = tokenizer.ends(tokens).findIndex((at) => at >= end) + 1;
  return {
    tokens: tokens.slice(0, count),
    logprobs: logprobs.slice(0, count).map(Math.fround),
    stop_reason: 'stop',
  };
}
