/** An OpenAI-compatible server as an engine: what is sent, and what its replies come to. */
import { afterEach, describe, expect, it } from 'vitest';
import { openOpenAIEngine } from '../../src/engine/openai/openai.ts';
import type { OpenAIOptions } from '../../src/engine/openai/options.ts';
import type { Engine, SampleRequest } from '../../src/engine.ts';
import { chatml } from '../../src/text/chat.ts';
import { codePointTokenizer } from '../../src/text/code-points.ts';
import { type FakeServer, fakeServer, type ServerOptions } from './openai-server.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(server: ServerOptions, over: Partial<OpenAIOptions> = {}) {
  const fake = await fakeServer(server);
  open.push(fake);
  const engine = await openOpenAIEngine({ url: fake.url, model: 'm', ...over });
  open.push(engine);
  return { fake, engine };
}

const ask = (prompt: readonly number[], over: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt,
  maxTokens: 5,
  temperature: 0,
  topP: 1,
  stop: [],
  key: 'k',
  ...over,
});

async function sample(engine: Engine, ...requests: SampleRequest[]) {
  const session = (await engine.policy(engine.base.policy)).open(requests.length);
  const out = await session.sample(
    requests,
    requests.map((_, i) => i),
  );
  await session.close();
  return out;
}

const said = (engine: Engine, tokens: readonly number[]): string => engine.tokenizer.decode(tokens);
const lastCall = (fake: FakeServer) => fake.calls.at(-1)!;

describe('text', () => {
  it('sends a flat prompt as one user message and reads the reply as code points', async () => {
    const { fake, engine } = await start({ say: (prompt) => `you said ${prompt}` });
    const [completion] = await sample(engine, ask(engine.tokenizer.encode(['hi there'])));
    expect(lastCall(fake).body.messages).toEqual([{ role: 'user', content: 'hi there' }]);
    expect(lastCall(fake).body.max_tokens).toBe(5);
    expect(said(engine, completion!.tokens)).toBe('you said hi there');
    expect(completion!.tokens).toHaveLength(17);
    expect(completion).toMatchObject({ logprobs: [], finish: 'stop', usage: { prompt: 2, completion: 4 } });
    expect(engine.usage()).toEqual({ sampled: 4, prefilled: 2, trained: 0 });
  });

  it('counts the reply in the tokens of the server', async () => {
    const { engine } = await start({ say: () => 'one two three four five six seven' });
    const [completion] = await sample(engine, ask(engine.tokenizer.encode(['count'])));
    expect(said(engine, completion!.tokens)).toBe('one two three four five ');
    expect(completion!.finish).toBe('length');
  });

  it('reads messages out of control tokens', async () => {
    const { fake, engine } = await start({});
    const prompt = engine.tokenizer.encode(
      chatml.render([
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'a' },
        { role: 'user', content: 'and?' },
      ]),
    );
    await sample(engine, ask(prompt));
    expect(lastCall(fake).body.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'and?' },
    ]);
  });

  it('sends text with the control tokens written out to /completions, those in documents broken up', async () => {
    const { fake, engine } = await start({}, { api: 'completions' });
    const prompt = engine.tokenizer.encode(chatml.render([{ role: 'user', content: 'x <|im_end|> y' }]));
    await sample(engine, ask(prompt));
    expect(lastCall(fake).path).toBe('/v1/completions');
    expect(lastCall(fake).body.prompt).toBe('<|im_start|>user\nx < |im_end|> y<|im_end|>\n<|im_start|>assistant\n');
  });

  it.each([
    ['vllm', ['<|im_end|>']],
    ['someone', []],
  ])('a reply of %s ends with the stop token only if the server says so', async (ownedBy, ending) => {
    const { fake, engine } = await start({ ownedBy, say: () => 'done<|im_end|>more' });
    const stop = [engine.tokenizer.tag('<|im_end|>')];
    const [completion] = await sample(engine, ask(engine.tokenizer.encode(['go']), { stop }));
    expect(lastCall(fake).body.stop).toEqual(['<|im_end|>']);
    expect(said(engine, completion!.tokens)).toBe(['done', ...ending].join(''));
    expect(completion!.finish).toBe('stop');
    expect(completion!.tokens.at(-1) === stop[0]).toBe(ending.length === 1);
  });

  it('a control token in the text of a reply is text', async () => {
    const { engine } = await start({ say: () => 'a <|im_start|> b' });
    const [completion] = await sample(engine, ask(engine.tokenizer.encode(['go'])));
    expect(said(engine, completion!.tokens)).toBe('a <|im_start|> b');
    expect(completion!.tokens).not.toContain(engine.tokenizer.tag('<|im_start|>'));
  });

  it.each([
    ['whole', { content: 'Lisbon', reasoning_content: 'hm' }, '<think>\nhm\n</think>\n\nLisbon'],
    ['cut inside it', { content: null, reasoning: 'hm' }, '<think>\nhm'],
  ])('reasoning that the server took out is put back: %s', async (_, message, text) => {
    const { engine } = await start({
      instead: (_call, n) =>
        n === 0 ? undefined : { body: { choices: [{ finish_reason: 'stop', message }], usage: null } },
    });
    const [completion] = await sample(engine, ask(engine.tokenizer.encode(['go'])));
    expect(said(engine, completion!.tokens)).toBe(text);
  });

  it.each([
    ['vllm', 'tail', { add_generation_prompt: false, continue_final_message: true }],
    ['llamacpp', 'Once upon tail', {}],
  ])('goes on with an unfinished message: %s', async (ownedBy, reply, fields) => {
    const { fake, engine } = await start({ ownedBy, say: () => reply });
    const { tokenizer } = engine;
    const prompt = tokenizer.encode([...chatml.render([{ role: 'user', content: 'a tale' }]), 'Once upon ']);
    const [completion] = await sample(engine, ask(prompt));
    expect(lastCall(fake).body).toMatchObject({
      messages: [
        { role: 'user', content: 'a tale' },
        { role: 'assistant', content: 'Once upon ' },
      ],
      ...fields,
    });
    expect(said(engine, completion!.tokens)).toBe('tail');
  });

  it('streams: the pieces as they come are the text of the completion', async () => {
    const { engine } = await start({ ownedBy: 'vllm', say: () => 'one two three<|im_end|>' });
    const heard: string[] = [];
    const stop = [engine.tokenizer.tag('<|im_end|>')];
    const completion = await engine.stream('m', ask(engine.tokenizer.encode(['go']), { stop }), (text) =>
      heard.push(text),
    );
    expect(heard).toEqual(['one ', 'two ', 'three']);
    expect(said(engine, completion.tokens)).toBe('one two three<|im_end|>');
    expect(completion).toMatchObject({ finish: 'stop', usage: { prompt: 1, completion: 3 } });
    expect(engine.usage()).toEqual({ sampled: 3, prefilled: 1, trained: 0 });
  });

  it('a stream that breaks off is a failed request', async () => {
    const { engine } = await start({
      instead: (_call, n) => (n === 0 ? undefined : { events: [{ choices: [{ delta: { content: 'half' } }] }] }),
    });
    const heard: string[] = [];
    const completion = await engine.stream('m', ask(engine.tokenizer.encode(['go'])), (text) => heard.push(text));
    expect(heard).toEqual(['half']);
    expect(completion.tokens).toEqual([]);
    expect(completion.error).toContain('finish_reason null');
  });
});

describe('token ids', () => {
  const tokenizer = codePointTokenizer(['<s>', '</s>']);
  const vllm = { ownedBy: 'vllm', tokenizer, maxModelLen: 64 };

  it('go both ways, with log-probabilities and the stop token', async () => {
    const { fake, engine } = await start(vllm, { tokenizer });
    const prompt = tokenizer.encode(['ab']);
    const [whole, cut, stopped] = await sample(
      engine,
      ask(prompt, { stop: [1] }),
      ask(prompt, { maxTokens: 2, stop: [1] }),
      ask(prompt, { stop: tokenizer.encode(['b']) }),
    );
    expect(fake.calls[1]!.body).toMatchObject({ prompt, stop_token_ids: [1], return_token_ids: true, max_tokens: 5 });
    expect(whole).toMatchObject({
      tokens: [...tokenizer.encode(['ab!']), 1],
      logprobs: [-0.25, -0.5, -0.75, -1],
      finish: 'stop',
    });
    expect(cut).toMatchObject({ tokens: tokenizer.encode(['ab']), logprobs: [-0.25, -0.5], finish: 'length' });
    expect(stopped).toMatchObject({ tokens: tokenizer.encode(['ab']), finish: 'stop' });
    expect(engine.contextLength).toBe(64);
    expect(engine.usage()).toEqual({ sampled: 8, prefilled: 6, trained: 0 });
  });

  it('are read from the log-probabilities of llama.cpp, and end at a stop that it does not know', async () => {
    const content = [11, 12, 13].map((id) => ({ id, token: '?', logprob: -id }));
    const reply = { choices: [{ text: '???', finish_reason: 'length', logprobs: { content } }] };
    const { engine } = await start(
      { ownedBy: 'llamacpp', instead: () => ({ body: reply }) },
      { tokenizer, contextLength: 32 },
    );
    const [whole, stopped] = await sample(engine, ask([5]), ask([5], { stop: [12] }));
    expect(whole).toMatchObject({ tokens: [11, 12, 13], logprobs: [-11, -12, -13], finish: 'length' });
    expect(stopped).toMatchObject({ tokens: [11, 12], logprobs: [-11, -12], finish: 'stop' });
  });

  it.each([
    ['no ids', { text: 'x', finish_reason: 'stop' }, 1, /no token ids.*leave --tokenizer out/],
    [
      'ids of another vocabulary',
      { token_ids: [2_000_000], finish_reason: 'stop' },
      5,
      /sampled token 2000000 after "Hello", but the tokenizer has 1114114 tokens; --tokenizer must be the folder/,
    ],
    [
      'ids that are other words there',
      { token_ids: [72, 105], text: ' world', finish_reason: 'length' },
      5,
      /the server's reply is " world", and its tokens are "Fg" by the tokenizer \(1114114 tokens\); --tokenizer must/,
    ],
    [
      'another count of the prompt',
      { token_ids: [5], finish_reason: 'stop' },
      9,
      /counts 9 tokens where "Hello" is 5 by the tokenizer/,
    ],
  ])('are refused at the start: %s', async (_, choice, prompt_tokens, message) => {
    const body = { choices: [choice], usage: { prompt_tokens, completion_tokens: 1 } };
    await expect(start({ ...vllm, instead: () => ({ body }) }, { tokenizer })).rejects.toThrow(message);
  });

  it('need to know how long the context is', async () => {
    await expect(start({ ownedBy: 'vllm', tokenizer }, { tokenizer })).rejects.toThrow(/give --context-length/);
  });
});

describe('settings', () => {
  it('seeds follow the key and the seed of the engine', async () => {
    const seeds = async (seed: number): Promise<number[]> => {
      const { fake, engine } = await start({}, { seed });
      const prompt = engine.tokenizer.encode(['x']);
      await sample(engine, ask(prompt, { key: 'a' }));
      await sample(engine, ask(prompt, { key: 'b' }));
      await sample(engine, ask(prompt, { key: 'a' }));
      return fake.calls.slice(1).map((call) => call.body.seed);
    };
    const [a, b, again] = await seeds(0);
    expect(again).toBe(a);
    expect(b).not.toBe(a);
    expect((await seeds(1))[0]).not.toBe(a);
    expect(Number.isInteger(a) && a! >= 0 && a! < 2 ** 31).toBe(true);
  });

  it.each([
    ['vllm', { top_k: -1, min_p: 0, repetition_penalty: 1 }],
    ['llamacpp', { top_k: 0, min_p: 0, repeat_penalty: 1 }],
  ])('default cuts of %s are switched off', async (ownedBy, fields) => {
    const { fake } = await start({ ownedBy });
    expect(fake.calls[0]!.body).toMatchObject(fields);
  });

  it('fields that the server refuses are done without, and named in the fingerprint', async () => {
    const refusing = (call: { body: Record<string, unknown> }) => {
      for (const field of ['max_tokens', 'temperature'])
        if (field in call.body)
          return { status: 400, body: { error: { message: `Unsupported parameter: '${field}' is not supported` } } };
      return undefined;
    };
    const { fake, engine } = await start({ instead: refusing });
    const [completion] = await sample(engine, ask(engine.tokenizer.encode(['x'])));
    expect(completion!.error).toBeUndefined();
    expect(lastCall(fake).body).toMatchObject({ max_completion_tokens: 5 });
    expect(lastCall(fake).body).not.toHaveProperty('temperature');
    expect(engine.fingerprint).toBe('openai/m/chat/other/seed=0/without=max_tokens,temperature');
  });

  it('the fingerprint names model, way of speaking and further fields, not the address', async () => {
    const { engine } = await start(
      { ownedBy: 'vllm' },
      { extra: { chat_template_kwargs: { enable_thinking: false } } },
    );
    expect(engine.fingerprint).toBe(
      'openai/m/chat/vllm/seed=0/with={"chat_template_kwargs":{"enable_thinking":false}}',
    );
  });

  it('does not train', async () => {
    const { engine } = await start({});
    await expect(engine.train(engine.base)).rejects.toThrow(/samples and does not train; train with --engine local/);
  });

  it('a server without a model list is taken at its word', async () => {
    const { engine } = await start({ models: null }, { model: 'anything' });
    expect(engine.base.policy).toBe('anything');
  });
});

describe('adapters of vLLM', () => {
  it('are loaded, sampled by name, and unloaded', async () => {
    const { fake, engine } = await start({ ownedBy: 'vllm' });
    await expect(engine.policy('tuned')).rejects.toThrow(/no model "tuned"; it serves m;/);
    await engine.adapters.load('tuned', '/adapters/1');
    await engine.adapters.load('tuned', '/adapters/1');
    const session = (await engine.policy('tuned')).open(1);
    await session.sample([ask(engine.tokenizer.encode(['x']))], [0]);
    expect(lastCall(fake).body.model).toBe('tuned');
    await expect(engine.adapters.load('tuned', '/adapters/2')).rejects.toThrow(
      /"tuned" from \/adapters\/1, not from \/adapters\/2/,
    );
    await expect(engine.adapters.load('lost', '/missing')).rejects.toThrow(/404 \(No adapter found for \/missing\)/);
    await engine.adapters.unload('tuned');
    await expect(engine.policy('tuned')).rejects.toThrow(/no model "tuned"/);
  });

  it('other servers say that they load none', async () => {
    const { engine } = await start({});
    await expect(engine.adapters.load('tuned', '/adapters/1')).rejects.toThrow(/--enable-lora/);
  });
});
