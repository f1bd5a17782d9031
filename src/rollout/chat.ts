/**
 * Any engine as a Chat: messages are rendered in the form that the engine's vocabulary has (text/chat), the reply is what
 * comes before the first thing that ends it. All requests of one call run in one session, in request order.
 */
import type { Chat, ChatReply, ChatRequest } from '../chat.ts';
import type { Completion, Engine, Policy, SampleRequest } from '../engine.ts';
import { chatFormOf, END_OF_TEXT, hasTag, IM_START } from '../text/chat.ts';

/** Nucleus of sampled replies: none is cut off. */
const TOP_P = 1;

/**
 * `engine` gives vocabulary and context length, `policy` is one of its policies. A prompt that does not fit is a reply of
 * finish "length" without text. A think block that the model writes stays in the text.
 */
export function chatOf(engine: Pick<Engine, 'fingerprint' | 'tokenizer' | 'contextLength'>, policy: Policy): Chat {
  const { tokenizer, contextLength } = engine;
  const form = chatFormOf(tokenizer);
  const ends = [...form.stop, END_OF_TEXT, IM_START].filter((name) => hasTag(tokenizer, name));
  const stop = ends.map((name) => tokenizer.tag(name));

  const asked = (request: ChatRequest): SampleRequest => {
    const prompt = tokenizer.encode(form.render(request.messages));
    const maxTokens = Math.min(request.maxTokens, contextLength - prompt.length);
    return { prompt, maxTokens, temperature: request.temperature, topP: TOP_P, stop, key: request.key };
  };
  const replied = (request: ChatRequest, prompt: readonly number[], completion: Completion): ChatReply => {
    const end = completion.tokens.findIndex((token) => stop.includes(token));
    const said = tokenizer.decode(end < 0 ? completion.tokens : completion.tokens.slice(0, end));
    const text = before(said, [...form.stopTexts, ...(request.stop ?? [])]);
    return {
      text,
      finish: end >= 0 || text.length < said.length ? 'stop' : completion.finish,
      usage: completion.usage ?? { prompt: prompt.length, completion: completion.tokens.length },
      ...(completion.error === undefined ? {} : { error: completion.error }),
    };
  };

  return {
    name: `${engine.fingerprint} ${policy.id}`,
    async reply(requests) {
      const all = requests.map(asked);
      const fitting = all.flatMap(({ maxTokens }, i) => (maxTokens > 0 ? [i] : []));
      const completions = await sampleAll(
        policy,
        fitting.map((i) => all[i]!),
      );
      const byRequest = new Map(fitting.map((i, at) => [i, completions[at]!]));
      return requests.map((request, i) => replied(request, all[i]!.prompt, byRequest.get(i) ?? NO_ROOM));
    },
  };
}

const NO_ROOM: Completion = { tokens: [], logprobs: [], finish: 'length' };

async function sampleAll(policy: Policy, requests: readonly SampleRequest[]): Promise<readonly Completion[]> {
  if (requests.length === 0) return [];
  const session = policy.open(requests.length);
  try {
    return await session.sample(
      requests,
      requests.map((_, lane) => lane),
    );
  } finally {
    await session.close();
  }
}

/** `text` up to the first of `stops`. */
function before(text: string, stops: readonly string[]): string {
  const found = stops.map((stop) => (stop === '' ? -1 : text.indexOf(stop))).filter((at) => at >= 0);
  return found.length === 0 ? text : text.slice(0, Math.min(...found));
}
