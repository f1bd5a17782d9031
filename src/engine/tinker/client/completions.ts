/** One sampling request of the wire and what may come back. Pure. */
import type { Completion, SampleRequest } from '../../../engine.ts';
import { InfraError } from '../../../util/error.ts';
import { hash64 } from '../../../util/rng.ts';
import type { Json } from './futures.ts';
import type { Body } from './transport.ts';

/** Everything is said, because servers differ in what they take for granted. Seeds are 31 bits, which all of them take. */
export function sampleBody(
  { prompt, maxTokens, temperature, topP, topK, stop, key }: SampleRequest,
  { sampler, seq, seed }: { readonly sampler: string; readonly seq: number; readonly seed: number },
): Body {
  return {
    prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
    sampling_params: {
      max_tokens: maxTokens,
      seed: seedOf(seed, key),
      stop,
      temperature,
      top_p: topP,
      top_k: topK ?? -1,
    },
    num_samples: 1,
    sampling_session_id: sampler,
    seq_id: seq,
    type: 'sample',
  };
}

export const seedOf = (seed: number, key: string): number => hash64(`${seed}/${key}`)[0] >>> 1;

/** @throws InfraError for a reply that is not what was asked for. */
export function readCompletion(result: Json, { maxTokens, stop }: SampleRequest): Completion {
  const broken = (what: string): InfraError => new InfraError(`asample: the server's reply ${what}`);
  const { sequences } = result;
  if (!Array.isArray(sequences) || sequences.length !== 1)
    throw broken(`has ${Array.isArray(sequences) ? sequences.length : 'no'} sequences; expected 1`);
  const { tokens, logprobs, stop_reason: reason } = sequences[0] as Json;
  if (!Array.isArray(tokens) || !tokens.every((t) => Number.isInteger(t) && t >= 0)) throw broken('has no token ids');
  if (tokens.length > maxTokens) throw broken(`has ${tokens.length} tokens; at most ${maxTokens} were asked for`);
  if (!Array.isArray(logprobs) || logprobs.length !== tokens.length || !logprobs.every(Number.isFinite))
    throw broken(
      `has ${Array.isArray(logprobs) ? logprobs.length : 'no'} log-probabilities for ${tokens.length} tokens; training needs one each`,
    );
  if (reason !== 'stop' && reason !== 'length') throw broken(`has the stop_reason "${String(reason)}"`);
  const early = tokens.findIndex((t) => stop.includes(t));
  if (early >= 0 && early < tokens.length - 1) throw broken(`goes on after the stop token ${tokens[early]}`);
  return { tokens, logprobs, finish: early >= 0 ? 'stop' : reason };
}
