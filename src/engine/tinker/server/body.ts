/** Request bodies: size, kind, encoding, shape. */
import type { Context } from 'hono';
import type { z } from 'zod';
import { readBytes } from '../../../util/body.ts';
import { messageOf } from '../../../util/error.ts';
import { decodeLossRequest } from '../wire/loss-codec.ts';
import { forwardBackwardSchema, forwardSchema, type LossRequest } from '../wire/messages.ts';
import { ProtoError } from '../wire/protobuf.ts';
import { Refusal } from './refusal.ts';

export const PROTO = 'application/x-protobuf';

const mediaType = (c: Context): string => (c.req.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();

/**
 * A JSON body of the given shape. Other media types are refused: a page of another site can send those without asking.
 * @throws Refusal 413, 415, 422
 */
export async function readJson<T>(c: Context, schema: z.ZodType<T>, maxBytes: number): Promise<T> {
  checkEncoding(c);
  if (mediaType(c) !== 'application/json')
    throw new Refusal(415, `content-type is "${mediaType(c)}"; expected application/json`);
  const bytes = await bytesOf(c, maxBytes);
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Refusal(422, `the body is not JSON (${messageOf(error)})`);
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new Refusal(422, complaints.join('; '));
}

/** forward_backward in either encoding. */
export async function readLossRequest(c: Context, maxBytes: number): Promise<LossRequest> {
  if (mediaType(c) !== PROTO) {
    const { model_id, seq_id, forward_backward_input } = await readJson(c, forwardBackwardSchema, maxBytes);
    return { model_id, seq_id: seq_id ?? null, forward_only: false, input: forward_backward_input };
  }
  checkEncoding(c);
  const bytes = await bytesOf(c, maxBytes);
  try {
    return decodeLossRequest(bytes);
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    throw new Refusal(422, `the body is not a ForwardBackwardRequest: ${error.message}`);
  }
}

export async function readForward(c: Context, maxBytes: number): Promise<LossRequest> {
  const { model_id, seq_id, forward_input } = await readJson(c, forwardSchema, maxBytes);
  return { model_id, seq_id: seq_id ?? null, forward_only: true, input: forward_input };
}

function checkEncoding(c: Context): void {
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw new Refusal(415, `content-encoding is "${encoding}"; send the body as it is`);
}

async function bytesOf(c: Context, maxBytes: number): Promise<Uint8Array> {
  const bytes = await readBytes(c.req.raw, maxBytes);
  if (bytes === null) throw new Refusal(413, `the body is longer than ${maxBytes} bytes; send smaller batches`);
  return bytes;
}
