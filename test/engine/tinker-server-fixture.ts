/** A Tinker server over the tiny engine, spoken to without a network. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTinkerServer, type TinkerServer } from '../../src/engine/tinker/server/server.ts';
import type { TinkerSettings } from '../../src/engine/tinker/server/settings.ts';
import { type TieredBlobs, tieredBlobs } from '../../src/engine/tinker/server/tiers.ts';
import type { Engine } from '../../src/engine.ts';
import { memoryBlobs, openTiny, TINY } from './fixture.ts';

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at field by field
  readonly body: any;
}

export interface Speaker {
  readonly server: TinkerServer;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  get(path: string, method?: string): Promise<Reply>;
  /** Sends and waits for the result. */
  done(path: string, body: unknown): Promise<Reply['body']>;
  retrieve(requestId: string, more?: object): Promise<Reply>;
  /** A session with a model: its ids. */
  model(more?: object): Promise<{ session: string; model: string }>;
}

export interface World {
  readonly engine: Engine;
  readonly blobs: TieredBlobs;
  /** Another server over the same engine and folder, as after a restart. */
  open(settings?: Partial<TinkerSettings>, more?: object): Promise<Speaker>;
  close(): Promise<void>;
}

/** @param wrap what the server is given in the engine's place. */
export async function tinyWorld(wrap: (engine: Engine) => Engine = (engine) => engine): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'crossfold-tinker-'));
  const blobs = tieredBlobs(memoryBlobs(), memoryBlobs());
  const engine = await openTiny({ blobs, workers: 1 });
  return {
    engine,
    blobs,
    async open(settings = {}, more = {}) {
      const server = await openTinkerServer({
        engine: wrap(engine),
        blobs,
        name: 'tiny',
        tokenizerId: null,
        limits: { contextLength: TINY.contextLength, vocabSize: TINY.vocabSize },
        eos: [0],
        folder,
        settings: { holdMs: 5_000, ...settings },
        ...more,
      });
      return speakerOf(server);
    },
    async close() {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function speakerOf(server: TinkerServer): Speaker {
  const send = async (path: string, init: RequestInit): Promise<Reply> => {
    const reply = await server.fetch(new Request(`http://127.0.0.1/api/v1/${path}`, init));
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? null : JSON.parse(text) };
  };
  const post: Speaker['post'] = (path, body, headers = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
    });
  const retrieve: Speaker['retrieve'] = (request_id, more = {}) => post('retrieve_future', { request_id, ...more });
  const done: Speaker['done'] = async (path, body) => {
    const { status, body: accepted } = await post(path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(accepted)}`);
    for (;;) {
      const reply = await retrieve(accepted.request_id);
      if (reply.status !== 408 && reply.body.type !== 'try_again') return reply.body;
    }
  };
  return {
    server,
    post,
    get: (path, method = 'GET') => send(path, { method }),
    done,
    retrieve,
    async model(more = {}) {
      const { session_id: session } = (await post('create_session', { tags: [], sdk_version: 'test' })).body;
      const asked = { session_id: session, model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 4 }, ...more };
      const { model_id: model } = await done('create_model', asked);
      return { session, model };
    },
  };
}

export const text = (tokens: readonly number[]) => ({ chunks: [{ type: 'encoded_text', tokens }] });
export const ints = (data: readonly number[]) => ({ data, dtype: 'int64', shape: [data.length] });
export const floats = (data: readonly number[]) => ({ data, dtype: 'float32', shape: [data.length] });

/** cross_entropy of a text, every token with weight 1. */
export const lesson = (tokens: readonly number[]) => ({
  data: [
    {
      model_input: text(tokens.slice(0, -1)),
      loss_fn_inputs: { target_tokens: ints(tokens.slice(1)), weights: floats(tokens.slice(1).map(() => 1)) },
    },
  ],
  loss_fn: 'cross_entropy',
});

export const ADAM_PARAMS = { learning_rate: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-12 };
