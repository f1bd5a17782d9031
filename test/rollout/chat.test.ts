/** Any engine as a chat: how messages are written, and where a reply ends. */
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../src/chat.ts';
import { type Script, scriptedEngine } from '../../src/engine/scripted.ts';
import type { Completion, SampleRequest } from '../../src/engine.ts';
import { chatOf } from '../../src/rollout/chat.ts';

const CHATML = ['<|im_start|>', '<|im_end|>', '<|endoftext|>'];

const ask = (content: string, over: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: 'user', content }],
  maxTokens: 50,
  temperature: 0,
  key: content,
  ...over,
});

async function open(script: Script, tags: readonly string[] = CHATML, contextLength = 1000) {
  const engine = scriptedEngine({ script, tags, contextLength });
  return chatOf(engine, await engine.policy('base'));
}

describe('rendering', () => {
  const messages = [
    { role: 'system' as const, content: 'be brief' },
    { role: 'user' as const, content: 'who?' },
  ];

  it('is ChatML where the vocabulary has it', async () => {
    const chat = await open((prompt) => prompt);
    const [reply] = await chat.reply([{ ...ask(''), messages, maxTokens: 500 }]);
    // The prompt is said back, so the reply ends at its first control token.
    expect(reply!.text).toBe('');
    expect(reply!.usage.prompt).toBe('<system\nbe brief>\n<user\nwho?>\n<assistant\n'.length);
  });

  it('is plain text elsewhere, and ends where another speaker would begin', async () => {
    const prompts: string[] = [];
    const chat = await open((prompt) => {
      prompts.push(prompt);
      return ' me\nUser: and then?';
    }, []);
    const [reply] = await chat.reply([{ ...ask(''), messages }]);
    expect(prompts).toEqual(['System: be brief\n\nUser: who?\n\nAssistant:']);
    expect(reply).toMatchObject({ text: ' me', finish: 'stop' });
  });
});

describe('a reply', () => {
  it.each([
    ['its end of turn', 'yes<|im_end|>no', {}, 'yes', 'stop'],
    ['the end of text', 'yes<|endoftext|>no', {}, 'yes', 'stop'],
    ['the first of the stop texts', 'one two three', { stop: ['three', ' two'] }, 'one', 'stop'],
    ['the limit', 'one two three', { maxTokens: 5 }, 'one t', 'length'],
    ['a stop text that the limit came after', 'one two three', { maxTokens: 8, stop: ['two'] }, 'one ', 'stop'],
    ['its own end, when no stop text occurs', 'one', { stop: ['', 'two'] }, 'one', 'stop'],
  ] as const)('ends at %s', async (_, said, over, text, finish) => {
    const chat = await open(() => said);
    expect(await chat.reply([ask('q', over)])).toEqual([expect.objectContaining({ text, finish })]);
  });

  it('keeps what the model thinks', async () => {
    const chat = await open(() => '<think>hm</think> yes<|im_end|>');
    expect((await chat.reply([ask('q')]))[0]!.text).toBe('<think>hm</think> yes');
  });

  it('counts tokens', async () => {
    const chat = await open(() => 'yes<|im_end|>');
    expect((await chat.reply([ask('q')]))[0]!.usage).toEqual({
      prompt: '<user\nq>\n<assistant\n'.length,
      completion: 4,
    });
  });
});

describe('a call', () => {
  it('answers in request order, with one session for all that fit', async () => {
    const sessions: number[] = [];
    const requests: SampleRequest[] = [];
    const engine = scriptedEngine({ script: () => '', tags: CHATML, contextLength: 60 });
    const sampled = (request: SampleRequest, i: number): Completion =>
      i === 0
        ? {
            tokens: engine.tokenizer.encode([request.key]),
            logprobs: [],
            finish: 'stop',
            usage: { prompt: 7, completion: 1 },
          }
        : { tokens: [], logprobs: [], finish: 'stop', error: 'the server is gone' };
    const chat = chatOf(engine, {
      id: 'p',
      open(size) {
        sessions.push(size);
        return {
          async sample(asked) {
            requests.push(...asked);
            return asked.map(sampled);
          },
          close: async () => {},
        };
      },
    });
    const out = await chat.reply([ask('x'.repeat(60), { key: 'long' }), ask('a'), ask('b')]);
    expect(sessions).toEqual([2]);
    expect(requests.map(({ key, temperature, topP }) => ({ key, temperature, topP }))).toEqual([
      { key: 'a', temperature: 0, topP: 1 },
      { key: 'b', temperature: 0, topP: 1 },
    ]);
    // 60 tokens less the prompt's 20.
    expect(requests[0]!.maxTokens).toBe(40);
    expect(out).toEqual([
      { text: '', finish: 'length', usage: { prompt: 79, completion: 0 } },
      { text: 'a', finish: 'stop', usage: { prompt: 7, completion: 1 } },
      { text: '', finish: 'stop', usage: { prompt: 20, completion: 0 }, error: 'the server is gone' },
    ]);
    expect(chat.name).toBe('scripted p');
  });

  it('without requests samples nothing', async () => {
    const chat = await open(() => {
      throw new Error('sampled');
    });
    expect(await chat.reply([])).toEqual([]);
  });
});
