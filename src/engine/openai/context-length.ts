/**
 * "Your prompt is too long", as servers say it. It is neither an outage nor a mistake in the settings: the conversation is
 * full. A row per wording; the lengths are the server's, in its own tokens.
 */

/** Null where the message does not say. */
export interface TooLong {
  /** Tokens of the prompt. */
  readonly prompt: number | null;
  /** Tokens that the model holds. */
  readonly limit: number | null;
}

interface Wording {
  /** Says that the error is this one. */
  readonly is: RegExp;
  readonly limit: RegExp | null;
  readonly prompt: RegExp | null;
}

/** The servers that use each, as seen in the wild. */
const WORDINGS: readonly Wording[] = [
  // llama.cpp
  {
    is: /exceed_context_size_error|exceeds the available context size/,
    limit: /"n_ctx":\s*(\d+)|context size \((\d+) tokens\)/,
    prompt: /"n_prompt_tokens":\s*(\d+)|request \((\d+) tokens\)/,
  },
  // OpenAI, vLLM, SGLang, llama-cpp-python
  {
    is: /maximum context length (?:is|of) \d+/,
    limit: /maximum context length (?:is|of) (\d+)/,
    prompt:
      /(\d+) (?:input tokens|in the messages|in your prompt|tokens from the input messages)|messages resulted in (\d+)/,
  },
  // vLLM, since 0.12
  { is: /context length is only \d+/, limit: /context length is only (\d+)/, prompt: /passed (\d+) input tokens/ },
  // vLLM, before
  {
    is: /prompt \(length \d+\) is longer than the maximum model length/,
    limit: /maximum model length of (\d+)/,
    prompt: /prompt \(length (\d+)\)/,
  },
  // SGLang
  {
    is: /is longer than the model's context length/,
    limit: /context length \((\d+) tokens\)/,
    prompt: /input \((\d+) tokens\)/,
  },
  {
    is: /Input length \(\d+ tokens\) exceeds the maximum allowed length/,
    limit: /allowed length \((\d+) tokens\)/,
    prompt: /Input length \((\d+) tokens\)/,
  },
  // llama-cpp-python
  {
    is: /exceed context window of \d+/,
    limit: /context window of (\d+)/,
    prompt: /Requested tokens \((\d+)\)/,
  },
  // text-generation-inference
  {
    is: /`max_new_tokens` must be <= \d+|`inputs` must have less than \d+ tokens/,
    limit: /must be <= (\d+)|must have less than (\d+) tokens/,
    prompt: /Given: (\d+)/,
  },
  // By its code, where the words are others
  { is: /context_length_exceeded/, limit: null, prompt: null },
];

/** Longer bodies are not error messages. */
const READ = 4000;

/** The lengths, if `body` is such an error; null if it is another. */
export function tooLong(body: string): TooLong | null {
  const head = body.slice(0, READ);
  const wording = WORDINGS.find(({ is }) => is.test(head));
  return wording === undefined ? null : { prompt: number(wording.prompt, head), limit: number(wording.limit, head) };
}

function number(pattern: RegExp | null, text: string): number | null {
  const found = pattern
    ?.exec(text)
    ?.slice(1)
    .find((group) => group !== undefined);
  return found === undefined ? null : Number(found);
}

export const lengthsText = ({ prompt, limit }: TooLong): string =>
  `${prompt === null ? 'a prompt' : `a prompt of ${prompt} tokens`} does not fit the model's ${limit === null ? 'context' : `${limit} tokens`}`;
