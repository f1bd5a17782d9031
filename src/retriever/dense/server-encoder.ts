/** An encoder behind any server that speaks OpenAI's `/v1/embeddings` (vLLM, TEI, llama.cpp, Ollama and others). */
import pLimit from 'p-limit';
import { z } from 'zod';
import type { Encoder } from '../../retriever.ts';
import { InfraError, UserError } from '../../util/error.ts';
import { checkUrl, expectOk, HTTP_LIMITS, type HttpReply, httpAgain, openHttp, plainUrl } from '../../util/http.ts';
import { contentId } from '../../util/id.ts';
import { RETRY, type Retry, retrying } from '../../util/retry.ts';
import { said } from '../../util/said.ts';
import { type Prefixes, prefixesOf } from './prefixes.ts';
import { normalise } from './unit.ts';

export interface ServerEncoderOptions {
  /** Address up to and with /v1. */
  readonly url: string;
  readonly model: string;
  readonly prefixes?: Partial<Prefixes>;
  /** Sent as a bearer token, never written or printed. */
  readonly key?: string;
  /** Texts a request. Default 32, which TEI takes without being told. */
  readonly batch?: number;
  /** Requests at once. Default 4. */
  readonly concurrency?: number;
  /** Milliseconds a request may take. Default 60,000. */
  readonly totalMs?: number;
  readonly retry?: Retry;
  /** A clock for tests. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Asks the server for one vector to learn its dimension. @throws InfraError when it fails, UserError when it refuses. */
export async function serverEncoder(options: ServerEncoderOptions): Promise<Encoder> {
  const { model, batch = 32, concurrency = 4 } = options;
  const prefixes = prefixesOf(model, options.prefixes);
  const ask = asker(options);
  const [probe] = await ask(['dimension']);
  const dimension = probe!.length;
  const limit = pLimit(concurrency);
  return {
    name: model,
    dimension,
    prefixes,
    async embed(texts, as) {
      const rows = new Float32Array(texts.length * dimension);
      const starts = Array.from({ length: Math.ceil(texts.length / batch) }, (_, i) => i * batch);
      const parts = starts.map((from) =>
        limit(async () => {
          const part = texts.slice(from, from + batch).map((text) => prefixes[as] + text);
          (await ask(part, dimension)).forEach((vector, i) => {
            rows.set(vector, (from + i) * dimension);
          });
        }),
      );
      // Every request has ended before a failure is told, so that none runs on unseen.
      const ends = await Promise.allSettled(parts);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      return normalise(rows, dimension, `${model} at ${plainUrl(options.url)}`);
    },
  };
}

/** The vectors of a few texts as the server gave them, all of one dimension. */
function asker({ url, model, key, totalMs = HTTP_LIMITS.totalMs, retry = RETRY, sleep }: ServerEncoderOptions) {
  const base = checkUrl(url, 'the address of the encoder');
  const to = `${base.origin}${base.pathname.replace(/\/+$/, '')}/embeddings`;
  const http = openHttp({ ...HTTP_LIMITS, totalMs });
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return (texts: readonly string[], dimension?: number): Promise<readonly (readonly number[])[]> => {
    const json = { model, input: texts, encoding_format: 'float' };
    return retrying(
      {
        retry,
        key: `${to} ${contentId(JSON.stringify(json))}`,
        // A reply that is no answer may be a server in trouble, too.
        again: (error) => httpAgain(error) ?? (error instanceof BadReply ? { afterMs: null } : null),
        ...(sleep === undefined ? {} : { sleep }),
      },
      async () => {
        const reply = await http.send({ method: 'POST', url: to, headers, json });
        if (reply.status >= 400 && reply.status < 500 && ![408, 425, 429].includes(reply.status))
          throw refusal(reply, to, model);
        return vectorsOf(expectOk(reply, to), texts.length, dimension, to);
      },
    );
  };
}

class BadReply extends InfraError {}

const Reply = z.object({
  data: z.array(z.object({ index: z.number().int().optional(), embedding: z.array(z.number()).min(1) })),
});

function vectorsOf(
  { text, header }: HttpReply,
  count: number,
  dimension: number | undefined,
  to: string,
): readonly number[][] {
  const bad = (what: string) => new BadReply(`${plainUrl(to)} gave no usable vectors: ${what}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad(`its reply is not JSON (${said(text, header('content-type'))})`);
  }
  const parsed = Reply.safeParse(value);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw bad(`${path.join('.') || 'the reply'}: ${message}`);
  }
  const { data } = parsed.data;
  if (data.length !== count) throw bad(`${data.length} for ${count} texts`);
  const vectors = new Array<number[] | undefined>(count).fill(undefined);
  data.forEach(({ index, embedding }, i) => {
    const at = index ?? i;
    if (at < 0 || at >= count || vectors[at] !== undefined) throw bad(`index ${at} twice or out of range`);
    const expected = dimension ?? data[0]!.embedding.length;
    if (embedding.length !== expected) throw bad(`dimension ${embedding.length}; expected ${expected}`);
    vectors[at] = embedding;
  });
  return vectors as number[][];
}

/** What a 4xx says. */
function refusal({ status, text, header }: HttpReply, to: string, model: string): UserError {
  const words = said(text, header('content-type'));
  const cure = status === 401 || status === 403 ? 'Check the key.' : 'Check the address and the name of the model.';
  return new UserError(
    `${plainUrl(to)} refused model ${model} with status ${status}${words === '' ? '' : `: ${words}`}. ${cure}`,
  );
}
