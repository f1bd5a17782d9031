/**
 * An OpenAI-compatible server in this process, with the semantics of real ones: it counts in words (its own tokens), stops at
 * stop strings and leaves them out of the text, and, as a vLLM, speaks in token ids and says what ended a reply. What it
 * answers can be replaced call by call.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tokenizer } from '../../src/engine.ts';

export interface Call {
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: a request body is whatever the client sent
  readonly body: any;
  readonly authorization: string | undefined;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; an object as JSON. */
  readonly body?: unknown;
  /** Sent as server-sent events. */
  readonly events?: readonly unknown[];
  /** Never answers. */
  readonly hang?: boolean;
}

export interface ServerOptions {
  readonly ownedBy?: string;
  readonly models?: readonly string[] | null;
  readonly maxModelLen?: number;
  /** What the model says to the last message or prompt, before any stop. */
  readonly say?: (prompt: string) => string;
  /** Token ids, as vLLM offers them. Its end token is id 1. */
  readonly tokenizer?: Tokenizer;
  /** Replaces the answer to a sampling call; `n` counts them from 0, the probe's included. */
  readonly instead?: (call: Call, n: number) => Answer | undefined;
}

export interface FakeServer {
  readonly url: string;
  /** Sampling calls, in order of arrival. */
  readonly calls: readonly Call[];
  /** Most calls that were under way at once. */
  busiest(): number;
  close(): Promise<void>;
}

export async function fakeServer(options: ServerOptions = {}): Promise<FakeServer> {
  const { ownedBy = 'someone', maxModelLen, instead = () => undefined } = options;
  const models = options.models === undefined ? ['m'] : options.models;
  const loaded = new Map<string, string>();
  const calls: Call[] = [];
  let running = 0;
  let most = 0;

  function answer(call: Call): Answer {
    if (call.path === '/v1/models') {
      if (models === null) return { status: 404, body: 'not found' };
      const card = (id: string, root = id) => ({ id, root, owned_by: ownedBy, max_model_len: maxModelLen });
      return { body: { data: [...models.map((id) => card(id)), ...[...loaded].map(([id, root]) => card(id, root))] } };
    }
    if (ownedBy === 'vllm' && call.path === '/v1/load_lora_adapter') {
      if (call.body.lora_path === '/missing')
        return { status: 404, body: { error: { message: `No adapter found for ${call.body.lora_path}` } } };
      loaded.set(call.body.lora_name, call.body.lora_path);
      return { body: `Success: LoRA adapter '${call.body.lora_name}' added successfully.` };
    }
    if (ownedBy === 'vllm' && call.path === '/v1/unload_lora_adapter') {
      loaded.delete(call.body.lora_name);
      return { body: 'Success' };
    }
    if (!['/v1/chat/completions', '/v1/completions'].includes(call.path)) return { status: 404, body: 'not found' };
    calls.push(call);
    const other = instead(call, calls.length - 1);
    if (other !== undefined) return other;
    if (models !== null && !models.includes(call.body.model) && !loaded.has(call.body.model))
      return { status: 404, body: { error: { message: `The model \`${call.body.model}\` does not exist.` } } };
    return Array.isArray(call.body.prompt) ? sampleIds(call, options) : sampleText(call, options);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    most = Math.max(most, ++running);
    // A turn of the loop: calls that were sent together are under way together.
    await new Promise((resolve) => setTimeout(resolve, 2));
    running--;
    const { path = '', authorization } = { path: request.url, authorization: request.headers.authorization };
    const {
      status = 200,
      headers = {},
      body,
      events,
      hang,
    } = answer({
      path,
      body: text === '' ? null : JSON.parse(text),
      authorization,
    });
    if (hang) return;
    response.writeHead(status, { 'content-type': events ? 'text/event-stream' : 'application/json', ...headers });
    if (events) {
      for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end('data: [DONE]\n\n');
    } else response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    busiest: () => most,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function sampleText({ path, body }: Call, { ownedBy, say = () => 'fine' }: ServerOptions): Answer {
  const chat = path.includes('chat');
  const prompt: string = chat ? body.messages.at(-1).content : body.prompt;
  const said = say(prompt);
  const stops: readonly string[] = body.stop ?? [];
  const at = Math.min(...stops.map((s) => said.indexOf(s)).map((i) => (i < 0 ? said.length : i)));
  const matched = at < said.length ? stops.find((s) => said.startsWith(s, at))! : null;
  const words = said.slice(0, at).split(/(?<= )/);
  const limit: number = body.max_tokens ?? body.max_completion_tokens;
  const cut = words.length > limit;
  const text = words.slice(0, limit).join('');
  const finish_reason = cut ? 'length' : 'stop';
  const stop_reason = ownedBy === 'vllm' ? { stop_reason: cut ? null : matched } : {};
  const choice = { index: 0, finish_reason, ...stop_reason };
  const usage = { prompt_tokens: prompt.split(' ').length, completion_tokens: Math.min(words.length, limit) };
  if (body.stream) {
    const pieces = words.slice(0, limit).map((word) => (chat ? { delta: { content: word } } : { text: word }));
    const last = chat ? { delta: {} } : { text: '' };
    return {
      events: [...pieces.map((p) => ({ choices: [p] })), { choices: [{ ...choice, ...last }] }, { choices: [], usage }],
    };
  }
  return {
    body: { choices: [{ ...choice, ...(chat ? { message: { role: 'assistant', content: text } } : { text }) }], usage },
  };
}

/** Says "<prompt text>!" and its end token 1. */
function sampleIds({ body }: Call, { tokenizer }: ServerOptions): Answer {
  const said = [...tokenizer!.encode([`${tokenizer!.decode(body.prompt)}!`]), 1];
  const stop = said.findIndex((id) => id === 1 || (body.stop_token_ids ?? []).includes(id));
  const whole = said.slice(0, stop + 1);
  const token_ids = whole.slice(0, body.max_tokens);
  const finish_reason = token_ids.length < whole.length ? 'length' : 'stop';
  const last = token_ids.at(-1);
  const choice = {
    text: tokenizer!.decode(token_ids.filter((id) => id !== 1)),
    finish_reason,
    stop_reason: finish_reason === 'stop' && last !== 1 ? last : null,
    ...(body.return_token_ids ? { token_ids } : {}),
    ...(body.logprobs ? { logprobs: { token_logprobs: token_ids.map((_, i) => -(i + 1) / 4) } } : {}),
  };
  return {
    body: { choices: [choice], usage: { prompt_tokens: body.prompt.length, completion_tokens: token_ids.length } },
  };
}
