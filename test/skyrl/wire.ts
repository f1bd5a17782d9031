/** The Tinker wire without the client: one request, one answer. */
import { decodeLossResult } from '../../src/engine/tinker/wire/loss-codec.ts';
import type { LossResult, SampleResult } from '../../src/engine/tinker/wire/messages.ts';
import { decodeSampleResult } from '../../src/engine/tinker/wire/sample-codec.ts';

const PROTOBUF = 'application/x-protobuf';
/** The first request of a shape waits for its compilation. */
const PATIENCE_MS = 240_000;

export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Wire {
  post(name: string, body: object | Uint8Array): Promise<Reply>;
  /** The result of a request that answers with a future. Throws unless both answers are 200. */
  result<T>(name: string, body: object): Promise<T>;
  /** The same where the result is protobuf: this server encodes losses and samples so, whatever is accepted. */
  loss(name: string, body: object | Uint8Array): Promise<LossResult>;
  sample(body: object): Promise<SampleResult>;
}

export function openWire(url: string): Wire {
  const send = (name: string, body: object | Uint8Array): Promise<Response> => {
    const binary = body instanceof Uint8Array;
    return fetch(`${url}/api/v1/${name}`, {
      method: 'POST',
      headers: { 'content-type': binary ? PROTOBUF : 'application/json' },
      body: binary ? Buffer.from(body) : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  };
  const post: Wire['post'] = async (name, body) => {
    const reply = await send(name, body);
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  const future = async (name: string, body: object | Uint8Array): Promise<Response> => {
    const { status, body: answer } = await post(name, body);
    if (status !== 200) throw new Error(`${name}: HTTP ${status} ${JSON.stringify(answer)}`);
    const reply = await send('retrieve_future', { request_id: answer.request_id });
    if (reply.status !== 200) throw new Error(`${name}: its result is HTTP ${reply.status} ${await reply.text()}`);
    return reply;
  };
  const binary = async (name: string, body: object | Uint8Array): Promise<Uint8Array> => {
    const reply = await future(name, body);
    const type = reply.headers.get('content-type');
    if (type !== PROTOBUF) throw new Error(`${name}: its result is ${type} instead of ${PROTOBUF}`);
    return new Uint8Array(await reply.arrayBuffer());
  };
  return {
    post,
    result: async <T>(name: string, body: object) => (await (await future(name, body)).json()) as T,
    loss: async (name, body) => decodeLossResult(await binary(name, body)),
    sample: async (body) => decodeSampleResult(await binary('asample', body)),
  };
}
