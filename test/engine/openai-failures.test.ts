/** What goes wrong with a server, and what it comes to: data, a message to the user, or a full conversation. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openOpenAIEngine } from '../../src/engine/openai/openai.ts';
import type { OpenAIOptions } from '../../src/engine/openai/options.ts';
import type { Engine } from '../../src/engine.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { type Answer, type Call, fakeServer, type ServerOptions } from './openai-server.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const one of open.splice(0).reverse()) await one.close();
});

const QUICK = { retries: 6, firstMs: 1, longestMs: 4 };

async function start(server: ServerOptions, over: Partial<OpenAIOptions> = {}) {
  const fake = await fakeServer(server);
  open.push(fake);
  const engine = await openOpenAIEngine({ url: fake.url, model: 'm', retry: QUICK, ...over });
  open.push(engine);
  return { fake, engine };
}

async function sample(engine: Engine, count: number, maxTokens = 5) {
  const session = (await engine.policy('m')).open(count);
  try {
    return await session.sample(
      Array.from({ length: count }, (_, i) => ({
        prompt: engine.tokenizer.encode([`prompt ${i}`]),
        maxTokens,
        temperature: 1,
        topP: 1,
        stop: [],
        key: `k${i}`,
      })),
      Array.from({ length: count }, (_, i) => i),
    );
  } finally {
    await session.close();
  }
}

/** `what` instead of an answer, to every call after the probe that `when` picks. */
const afterProbe = (what: Answer, when: (call: Call, n: number) => boolean = () => true) => ({
  instead: (call: Call, n: number) => (n > 0 && when(call, n) ? what : undefined),
});
const promptOf = (call: Call): string => call.body.messages[0].content;
const error = (message: string, more: object = {}) => ({ error: { message, type: 'BadRequestError', ...more } });

describe('failures that pass', () => {
  it('a storm of 429: everything is answered in the end, and fewer requests run at once', async () => {
    const seen = new Map<string, number>();
    const { engine, fake } = await start(
      afterProbe({ status: 429, body: error('slow down'), headers: { 'retry-after': '0' } }, (call) => {
        const tries = (seen.get(promptOf(call)) ?? 0) + 1;
        seen.set(promptOf(call), tries);
        return tries <= 2;
      }),
      { concurrency: 16 },
    );
    const out = await sample(engine, 40);
    expect(out.map((c) => c.error)).toEqual(out.map(() => undefined));
    expect(out.map((c) => engine.tokenizer.decode(c.tokens))).toEqual(out.map(() => 'fine'));
    expect(fake.calls).toHaveLength(1 + 40 * 3);
    expect(fake.busiest()).toBeLessThanOrEqual(16);
  });

  it.each([
    ['500', { status: 500, body: 'oops' }],
    ['cut JSON', { body: '{"choices": [{"mess' }],
    ['JSON of another shape', { body: { choices: [] } }],
    ['a reply that was given up', { body: { choices: [{ finish_reason: 'abort', message: { content: 'x' } }] } }],
  ])('%s is tried again', async (_, what) => {
    const { engine, fake } = await start(afterProbe(what, (_call, n) => n <= 2));
    const [completion] = await sample(engine, 1);
    expect(completion).toMatchObject({ finish: 'stop' });
    expect(completion!.error).toBeUndefined();
    expect(fake.calls).toHaveLength(4);
  });
});

describe('failures that stand are data', () => {
  it.each([
    ['500', { status: 500, body: 'oops' }, 8, /answered 500 \(oops\)/],
    ['500 in JSON', { status: 500, body: error('no room on the card') }, 8, /answered 500 \(no room on the card\)/],
    ['an error inside a 200', { body: error('try later') }, 8, /answered with an error \(try later\)/],
    ['cut JSON', { body: '{"choices": [{"mess' }, 8, /cut or broken JSON/],
    ['one prompt too big to send', { status: 413, body: 'too big' }, 2, /answered 413/],
    [
      'a long wait that the server asks for',
      { status: 429, body: '', headers: { 'retry-after': '3600' } },
      2,
      /answered 429/,
    ],
    [
      'a withheld reply',
      { body: { choices: [{ finish_reason: 'content_filter', message: {} }] } },
      2,
      /withheld the reply/,
    ],
  ])('%s', async (_, what, calls, message) => {
    const { engine, fake } = await start(afterProbe(what, (call) => promptOf(call) === 'prompt 0'));
    const [bad, good] = await sample(engine, 2);
    expect(bad).toMatchObject({ tokens: [], logprobs: [] });
    expect(bad!.error).toMatch(message);
    expect(good!.error).toBeUndefined();
    expect(fake.calls.filter((call) => promptOf(call) !== 'prompt 1')).toHaveLength(calls);
  });

  it('a server that answers nothing any more is given up by all after the time of one attempt', async () => {
    const { engine, fake } = await start(
      afterProbe({ hang: true }, (_call, n) => n > 2),
      { limits: { totalMs: 300 }, concurrency: 2 },
    );
    const out = await sample(engine, 9);
    expect(out.slice(0, 2).map((c) => engine.tokenizer.decode(c.tokens))).toEqual(['fine', 'fine']);
    for (const { error, tokens } of out.slice(2)) {
      expect(tokens).toEqual([]);
      expect(error).toMatch(
        /^http:\S+ has answered nothing at all for 0\.3 s and was given up; look at its log .* \(--concurrency\)$/,
      );
    }
    const [later] = await sample(engine, 1);
    expect(later!.error).toMatch(/was given up/);
    // The probe, two that were answered, and the two places, one of which may have begun before the last answer and then
    // been tried once more: of the seven that were left, nobody else was let in.
    expect(fake.calls.length).toBeGreaterThanOrEqual(5);
    expect(fake.calls.length).toBeLessThanOrEqual(6);
  });

  it('one request that hangs while others are answered is tried twice', async () => {
    const { engine, fake } = await start(
      afterProbe({ hang: true }, (call) => promptOf(call) === 'prompt 0'),
      { limits: { totalMs: 1000 } },
    );
    const stuck = sample(engine, 1);
    let over = false;
    void stuck.then(() => {
      over = true;
    });
    const others = async (): Promise<void> => {
      const session = (await engine.policy('m')).open(1);
      const prompt = engine.tokenizer.encode(['prompt 1']);
      const asked = { prompt, maxTokens: 5, temperature: 1, topP: 1, stop: [], key: 'other' };
      while (!over) {
        expect((await session.sample([asked], [0]))[0]!.error).toBeUndefined();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await session.close();
    };
    await others();
    expect((await stuck)[0]!.error).toMatch(/did not answer within 1 s/);
    expect(fake.calls.filter((call) => promptOf(call) === 'prompt 0')).toHaveLength(2);
  });

  it('a server that hangs from the beginning is tried twice, and the message says what to do', async () => {
    const fake = await fakeServer({ instead: () => ({ hang: true }) });
    open.push(fake);
    const opened = openOpenAIEngine({ url: fake.url, model: 'm', retry: QUICK, limits: { totalMs: 60 } });
    await expect(opened).rejects.toThrow(
      /did not answer within 0\.06 s; is the server up and ready\? Then run the same command again$/,
    );
    await expect(opened).rejects.toBeInstanceOf(InfraError);
    expect(fake.calls).toHaveLength(2);
  });

  it('an error inside a 200 at the beginning is in the words of the server', async () => {
    const fake = await fakeServer({ instead: () => ({ body: error('the model is being moved') }) });
    open.push(fake);
    await expect(openOpenAIEngine({ url: fake.url, model: 'm', retry: QUICK })).rejects.toThrow(
      /answered with an error \(the model is being moved\); is the server up/,
    );
  });

  it('a server that is gone: the first request waits for it, the others do not', async () => {
    const { engine, fake } = await start({}, { concurrency: 1 });
    await fake.close();
    open.shift();
    const out = await sample(engine, 3);
    for (const { error } of out) expect(error).toMatch(/cannot be reached/);
  });
});

describe('mistakes in the settings are thrown', () => {
  it.each([
    [
      'wrong key',
      { status: 401, body: error('Incorrect API key provided') },
      /\/v1\/chat\/completions answered 401 \(Incorrect API key provided\); put the key of this server in the environment variable OPENAI_API_KEY/,
    ],
    ['no right', { status: 403, body: { detail: 'no' } }, /answered 403 \(no\); the key in the environment variable/],
    ['unknown model', { status: 404, body: error('The model `m` does not exist.') }, /answered 404.*--model/],
    [
      'bad field',
      { status: 400, body: { object: 'error', message: 'top_p must be in (0, 1]' } },
      /answered 400 \(top_p must be/,
    ],
    [
      'no credit',
      { status: 429, body: error('You exceeded your quota', { code: 'insufficient_quota' }) },
      /no credit left/,
    ],
  ])('%s: at the start, and later', async (_, what, message) => {
    await expect(start({ instead: () => what })).rejects.toThrow(message);
    await expect(start({ instead: () => what })).rejects.toThrow(UserError);
    const { engine, fake } = await start(afterProbe(what), { concurrency: 2 });
    await expect(sample(engine, 30)).rejects.toThrow(message);
    expect(fake.calls.length).toBeLessThan(10);
  });

  it('a model that is not there: what is', async () => {
    await expect(start({ models: ['a', 'b'] })).rejects.toThrow(
      /serves no model "m"; it serves a, b; give one of its names with --model/,
    );
  });

  it('the options are told by the names that the command has for them', async () => {
    const words = { engine: '--judge', model: '--judge-model' };
    await expect(start({ models: ['a'] }, { words })).rejects.toThrow(/give one of its names with --judge-model$/);
    await expect(start({ models: ['a'] }, { words: { ...words, model: null } })).rejects.toThrow(
      /name a server that has it with --judge$/,
    );
    const lost = { instead: () => ({ status: 404, body: error('gone') }) };
    await expect(start(lost, { words })).rejects.toThrow(/check the address and --judge-model; an address ends/);
    await expect(openOpenAIEngine({ url: 'x', model: 'm', words })).rejects.toThrow(/--judge openai:URL is "x"/);
  });

  it('addresses that are none, and servers that are not there', async () => {
    const opened = (url: string) => openOpenAIEngine({ url, model: 'm' });
    await expect(opened('localhost:8000')).rejects.toThrow(/expected an address like http:/);
    await expect(opened('http://me:secret@127.0.0.1:1')).rejects.toThrow(/must not hold a password/);
    await expect(opened('http://127.0.0.1:1')).rejects.toThrow(InfraError);
  });

  it('the key comes from the environment and is told to nobody else', async () => {
    vi.stubEnv('OTHER_KEY', 'sk-other');
    const { engine, fake } = await start(afterProbe({ status: 401, body: error('no') }), { apiKeyEnv: 'OTHER_KEY' });
    expect(fake.calls[0]!.authorization).toBe('Bearer sk-other');
    const failure = await sample(engine, 1).catch((e: Error) => e.message);
    expect(failure).toContain('OTHER_KEY');
    expect(failure).not.toContain('sk-other');
    expect(engine.fingerprint).not.toContain('sk-other');
  });

  it('what a server says cannot drive a terminal', async () => {
    const instead = () => ({ status: 400, body: error('\u001b[31mred\u001b[0m\r\nx') });
    const message = await start({ instead }).catch((e: Error) => e.message);
    expect(message).toContain('\\e[31mred\\e[0m x');
    expect(message).not.toContain('\u001b');
  });
});

describe('prompts that are too long', () => {
  const words = "This model's maximum context length is 100 tokens. However, your request has 120 input tokens.";

  it('end their conversation, are told of once with the lengths, and are tried once', async () => {
    const told: string[] = [];
    const { engine, fake } = await start(
      afterProbe({ status: 400, body: error(words) }, (call) => promptOf(call).includes('long')),
      { warn: (text) => told.push(text) },
    );
    const session = (await engine.policy('m')).open(2);
    const turn = (text: string) => {
      const request = { maxTokens: 5, temperature: 0, topP: 1, stop: [], key: text };
      const prompts = [engine.tokenizer.encode([text]), engine.tokenizer.encode(['ok'])];
      return session.sample(
        prompts.map((prompt) => ({ ...request, prompt })),
        [0, 1],
      );
    };
    const [full, fine] = await turn('long');
    const [fuller] = await turn('long and longer');
    await session.close();
    expect(full).toEqual({ tokens: [], logprobs: [], finish: 'length' });
    expect(fuller).toEqual(full);
    expect(fine!.finish).toBe('stop');
    expect(fake.calls.filter((call) => promptOf(call).includes('long'))).toHaveLength(1);
    expect(told).toEqual([
      "a prompt of 120 tokens does not fit the model's 100 tokens; it and others like it end where they are",
    ]);
  });

  it('are a mistake when no reply could ever fit', async () => {
    const { engine } = await start(afterProbe({ status: 400, body: error(words) }));
    await expect(sample(engine, 1, 100)).rejects.toThrow(/up to 100 tokens are asked for, but the model holds 100/);
  });

  it('are known in a stream too', async () => {
    const { engine } = await start({
      instead: (_call, n) =>
        n === 1 ? { events: [error(words)] } : n === 2 ? { status: 400, body: error(words) } : undefined,
    });
    const request = { prompt: [], maxTokens: 5, temperature: 0, topP: 1, stop: [], key: 'k' };
    for (let i = 0; i < 2; i++)
      expect(await engine.stream('m', request, () => {})).toEqual({ tokens: [], logprobs: [], finish: 'length' });
  });
});
