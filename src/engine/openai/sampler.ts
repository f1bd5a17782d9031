/** Policies of one server: requests of a session run side by side, their completions come in request order. */
import type { Completion, Policy, SampleRequest, SamplingSession } from '../../engine.ts';
import { InfraError, UserError } from '../../util/error.ts';
import { type Client, PromptTooLong } from './client.ts';
import { lengthsText, type TooLong } from './context-length.ts';
import { type Body, readReply, type Wire } from './wire.ts';

export interface SamplerOptions {
  readonly client: Client;
  readonly wire: Wire;
  readonly bodyOf: (model: string, request: SampleRequest) => Body;
  readonly warn: (text: string) => void;
}

export interface Sampler {
  policy(id: string): Policy;
  /** Tokens by the server's count. */
  usage(): { readonly sampled: number; readonly prefilled: number };
  /** Adds what a completion says it used. */
  count(completion: Completion): Completion;
  /** What a failure comes to: the completion of a full conversation, or of a failed request. @throws anything else. */
  failed(error: unknown, request: SampleRequest): Completion;
}

const FULL: Completion = { tokens: [], logprobs: [], finish: 'length' };

export function samplerOf({ client, wire, bodyOf, warn }: SamplerOptions): Sampler {
  const total = { sampled: 0, prefilled: 0 };
  const count = (completion: Completion): Completion => {
    total.sampled += completion.usage?.completion ?? 0;
    total.prefilled += completion.usage?.prompt ?? 0;
    return completion;
  };
  let warned = false;
  const tooLong = (lengths: TooLong, { maxTokens }: SampleRequest): Completion => {
    if (lengths.limit !== null && maxTokens >= lengths.limit)
      throw new UserError(
        `replies of up to ${maxTokens} tokens are asked for, but the model holds ${lengths.limit}, prompt included; ask for shorter ones`,
      );
    if (!warned) warn(`${lengthsText(lengths)}; it and others like it end where they are`);
    warned = true;
    return FULL;
  };
  const failed = (error: unknown, request: SampleRequest): Completion => {
    if (error instanceof PromptTooLong) return tooLong(error.lengths, request);
    if (error instanceof InfraError) return { tokens: [], logprobs: [], finish: 'stop', error: error.message };
    throw error;
  };

  function open(model: string): SamplingSession {
    /** Of lanes that are full, the prompt that was too long: a longer one is not tried. */
    const full = new Map<number, SampleRequest>();
    const closed = new AbortController();
    const complete = async (request: SampleRequest, lane: number, signal: AbortSignal): Promise<Completion> => {
      const before = full.get(lane);
      if (before && request.prompt.length >= before.prompt.length && request.maxTokens >= before.maxTokens) return FULL;
      const read = (json: unknown): Completion => readReply(json, wire, request);
      try {
        return count(await client.ask(wire.path, bodyOf(model, request), request.key, read, signal));
      } catch (error) {
        const completion = failed(error, request);
        if (error instanceof PromptTooLong) full.set(lane, request);
        return completion;
      }
    };
    return {
      async sample(requests, lane) {
        const stop = new AbortController();
        const signal = AbortSignal.any([closed.signal, stop.signal]);
        try {
          return await Promise.all(requests.map((request, i) => complete(request, lane[i]!, signal)));
        } catch (error) {
          // One mistake in the settings is everybody's: the rest is not waited for.
          stop.abort(error);
          throw error;
        }
      },
      close: async () => closed.abort(new InfraError('the session was closed')),
    };
  }
  return {
    policy: (id) => ({ id, open: () => open(id) }),
    usage: () => ({ ...total }),
    count,
    failed,
  };
}
