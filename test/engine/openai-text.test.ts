/** The pure parts of the OpenAI-compatible engine: error wordings, messages out of tokens, adaptive concurrency. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lengthsText, tooLong } from '../../src/engine/openai/context-length.ts';
import { openLimiter } from '../../src/engine/openai/limiter.ts';
import { messagesOf, TEXT_TAGS, textOf } from '../../src/engine/openai/messages.ts';
import { apiRoot } from '../../src/engine/openai/server.ts';
import { chatml, IM_END, IM_START } from '../../src/text/chat.ts';
import { codePointTokenizer } from '../../src/text/code-points.ts';
import type { Piece } from '../../src/types.ts';

describe('a prompt that is too long, as servers say it', () => {
  it.each([
    [
      'vLLM',
      "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 tokens and your request has 2778 input tokens (8000 > 4096 - 2778). None",
      2778,
      4096,
    ],
    [
      'vLLM',
      "This model's maximum context length is 1536 tokens. However, your request has 4176 input tokens. Please reduce the length of the input messages.",
      4176,
      1536,
    ],
    [
      'vLLM',
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      4000,
      4096,
    ],
    [
      'vLLM',
      "This model's maximum context length is 4096 tokens. However, you requested 500 output tokens and your prompt contains at least 3597 input tokens, for a total of at least 4097 tokens.",
      3597,
      4096,
    ],
    [
      'vLLM',
      "You passed 2049 input tokens and requested 1 output tokens. However, the model's context length is only 2048 tokens, resulting in a maximum input length of 2047 tokens. (parameter=input_tokens, value=2049)",
      2049,
      2048,
    ],
    [
      'vLLM',
      'The decoder prompt (length 8825) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.',
      8825,
      8192,
    ],
    ['SGLang', "The input (150000 tokens) is longer than the model's context length (128000 tokens).", 150000, 128000],
    [
      'SGLang',
      "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 4000 tokens from the input messages and 1000 tokens for the completion.",
      4000,
      4096,
    ],
    [
      'SGLang',
      'Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens). Use a shorter input or enable --allow-auto-truncate.',
      5000,
      4090,
    ],
    [
      'OpenAI',
      "This model's maximum context length is 4097 tokens. However, your messages resulted in 5012 tokens. Please reduce the length of the messages.",
      5012,
      4097,
    ],
    [
      'OpenAI',
      "This model's maximum context length is 8192 tokens, however you requested 10000 tokens (9000 in your prompt; 1000 for the completion).",
      9000,
      8192,
    ],
    [
      'llama.cpp',
      '{"error":{"code":400,"message":"request (3031 tokens) exceeds the available context size (1024 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":3031,"n_ctx":1024}}',
      3031,
      1024,
    ],
    ['llama.cpp', 'the request exceeds the available context size, try increasing it', null, null],
    ['llama-cpp-python', 'Requested tokens (3000) exceed context window of 2048', 3000, 2048],
    [
      'text-generation-inference',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`',
      4000,
      4096,
    ],
    ['by its code', '{"error":{"message":"zu lang","code":"context_length_exceeded"}}', null, null],
  ])('%s: %s', (_, body, prompt, limit) => {
    expect(tooLong(body)).toEqual({ prompt, limit });
  });

  it.each(['The model `m` does not exist.', "'temperature' must be at most 2", 'string too long'])(
    'is not: %s',
    (body) => {
      expect(tooLong(body)).toBeNull();
    },
  );

  it('the lengths in words', () => {
    expect(lengthsText({ prompt: 9, limit: 8 })).toBe("a prompt of 9 tokens does not fit the model's 8 tokens");
    expect(lengthsText({ prompt: null, limit: null })).toBe("a prompt does not fit the model's context");
  });
});

describe('messages out of tokens', () => {
  const tokenizer = codePointTokenizer(TEXT_TAGS);
  const read = (...pieces: Piece[]) => messagesOf(tokenizer.encode(pieces), tokenizer);
  const message = fc.record({
    role: fc.constantFrom('system' as const, 'user' as const, 'assistant' as const),
    content: fc.string({ unit: fc.constantFrom('a', ' ', '\n', '<', '|', 'é', '😀', '<think>') }),
  });

  it('what chatml writes is read back', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1 }), (messages) => {
        expect(read(...chatml.render(messages))).toEqual({ messages, unfinished: false });
      }),
    );
  });

  it('a message that nobody closed ends where the next begins', () => {
    expect(read({ tag: IM_START }, 'assistant\nsaid', '\n', { tag: IM_START }, 'user\nnext', { tag: IM_END })).toEqual({
      messages: [
        { role: 'assistant', content: 'said\n' },
        { role: 'user', content: 'next' },
      ],
      unfinished: false,
    });
  });

  it('text between messages is the user’s', () => {
    expect(read(...chatml.render([{ role: 'user', content: 'q' }]), 'a', { tag: IM_END }, '\n\nresults\n\n')).toEqual({
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'a' },
        { role: 'user', content: 'results' },
      ],
      unfinished: false,
    });
  });

  it('an assistant message that is begun is to be gone on with; an empty one is the turn to reply', () => {
    const opening = chatml.render([{ role: 'user', content: 'q' }]);
    expect(read(...opening, 'so ').unfinished).toBe(true);
    expect(read(...opening)).toEqual({ messages: [{ role: 'user', content: 'q' }], unfinished: false });
  });

  it('a role that servers do not all know is the user’s', () => {
    expect(read({ tag: IM_START }, 'tool\nfound', { tag: IM_END }).messages).toEqual([
      { role: 'user', content: 'found' },
    ]);
  });

  it('untrusted text never holds a control token', () => {
    const text = fc.string({ unit: fc.constantFrom('<', '|', '>', 'im_end', 'im_start', '<|', '|>', ' ') });
    fc.assert(
      fc.property(text, (content) => {
        const [only] = read(...chatml.render([{ role: 'user', content }])).messages;
        expect(only!.content).not.toMatch(/<\|[a-z_]+\|>/);
        const flat = textOf(tokenizer.encode([content]), tokenizer);
        expect(flat).not.toMatch(/<\|[a-z_]+\|>/);
      }),
    );
  });
});

describe('adaptive concurrency', () => {
  const refused = new Error('429');
  const limiter = (most: number) => openLimiter(most, (error) => error === refused);

  it('halves once for refusals of one wave and grows by one a round', async () => {
    const { run, places } = limiter(8);
    const wave = Array.from({ length: 8 }, () => run(() => Promise.reject(refused)).catch(() => {}));
    await Promise.all(wave);
    expect(places()).toBe(4);
    for (let i = 0; i < 5; i++) await run(async () => {});
    expect(places()).toBe(5);
    for (let i = 0; i < 100; i++) await run(async () => {});
    expect(places()).toBe(8);
  });

  it('never falls below one, and other failures change nothing', async () => {
    const { run, places } = limiter(3);
    for (let i = 0; i < 5; i++) await run(() => Promise.reject(refused)).catch(() => {});
    expect(places()).toBe(1);
    const other = limiter(3);
    await other.run(() => Promise.reject(new Error('500'))).catch(() => {});
    expect(other.places()).toBe(3);
  });

  it('runs no more at once than there are places, in order of arrival', async () => {
    const { run } = limiter(2);
    const began: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      [0, 1, 2, 3, 4].map((i) =>
        run(async () => {
          began.push(i);
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
        }),
      ),
    );
    expect(began).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
  });
});

it.each([
  ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/v1'],
  ['http://127.0.0.1:8000/', 'http://127.0.0.1:8000/v1'],
  ['http://127.0.0.1:8000/v1/', 'http://127.0.0.1:8000/v1'],
  ['https://example.org/v1beta/openai', 'https://example.org/v1beta/openai'],
])('%s is the API at %s', (url, root) => {
  expect(apiRoot(url, '--engine')).toBe(root);
});
