import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENCODER_KEY, openEncoder } from '../../src/recipe/encoder.ts';
import { localEncoder, type Transformers } from '../../src/retriever/dense/local-encoder.ts';
import { prefixesOf } from '../../src/retriever/dense/prefixes.ts';
import { type ServerEncoderOptions, serverEncoder } from '../../src/retriever/dense/server-encoder.ts';
import { InfraError, UserError } from '../../src/util/error.ts';

interface Asked {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly input: readonly string[]; readonly encoding_format: string };
}

/** Each text becomes (number of characters, 1), so that rows show which text they are of. */
const vectors = (input: readonly string[]) => input.map((text, index) => ({ index, embedding: [text.length, 1] }));
const answer = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

let server: Server;
let url = '';
let asked: Asked[] = [];
/** What happens to request i (the probe is 0); default: a good answer. */
let reply: (i: number, request: Asked, response: ServerResponse) => void;
let [open, mostOpen] = [0, 0];
const good = (request: Asked, response: ServerResponse) => answer(response, 200, { data: vectors(request.body.input) });

beforeEach(async () => {
  asked = [];
  [open, mostOpen] = [0, 0];
  reply = (_, request, response) => good(request, response);
  server = createServer((request, response) => {
    let text = '';
    mostOpen = Math.max(mostOpen, ++open);
    response.on('close', () => open--);
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const one = { url: request.url!, headers: request.headers, body: JSON.parse(text) };
      asked.push(one);
      reply(asked.length - 1, one, response);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

let waits: number[] = [];
const sleep = async (ms: number): Promise<void> => {
  waits.push(ms);
};
const openIt = (options: Partial<ServerEncoderOptions> = {}) => {
  waits = [];
  return serverEncoder({ url, model: 'm', sleep, ...options });
};

describe('an encoder behind an embeddings server', () => {
  it('asks for one vector, then in batches, and gives rows of length 1 in order', async () => {
    // Later requests are answered first, and the rows of each in reverse.
    reply = (i, request, response) =>
      setTimeout(() => answer(response, 200, { data: vectors(request.body.input).reverse() }), 60 - 10 * i);
    const encoder = await openIt({ model: 'intfloat/e5-base-v2', batch: 2, key: 'secret' });
    expect(encoder).toMatchObject({ name: 'intfloat/e5-base-v2', dimension: 2 });
    const rows = await encoder.embed(['a', 'bb', 'ccc', 'dddd', 'eeeee'], 'passage');
    // 'passage: ' has 9 characters: (10, 1), (11, 1), …
    expect([...rows].map((x) => x.toFixed(4))).toEqual([
      '0.9950',
      '0.0995',
      '0.9959',
      '0.0905',
      '0.9965',
      '0.0830',
      '0.9971',
      '0.0767',
      '0.9975',
      '0.0712',
    ]);
    expect(asked.map(({ body }) => body.input)).toEqual(
      expect.arrayContaining([['dimension'], ['passage: a', 'passage: bb'], ['passage: eeeee']]),
    );
    expect(asked.length).toBe(4);
    expect(asked[0]).toMatchObject({
      url: '/v1/embeddings',
      body: { model: 'intfloat/e5-base-v2', encoding_format: 'float' },
    });
    expect(asked[0]!.headers.authorization).toBe('Bearer secret');
    await encoder.embed(['q'], 'query');
    expect(asked.at(-1)!.body.input).toEqual(['query: q']);
    expect((await encoder.embed([], 'query')).length).toBe(0);
  });

  it('has a bounded number of requests open', async () => {
    reply = (_, request, response) => setTimeout(() => good(request, response), 15);
    const encoder = await openIt({ batch: 1, concurrency: 3 });
    await Promise.all([encoder.embed([...'abcdefgh'], 'query'), encoder.embed([...'ijkl'], 'query')]);
    expect(mostOpen).toBe(3);
  });

  it('tries again after 500, 429 with Retry-After, a cut connection and a reply that is none', async () => {
    reply = (i, request, response) => {
      if (i === 1) answer(response, 500, 'oops');
      else if (i === 2) answer(response, 429, '', { 'retry-after': '7' });
      else if (i === 3) response.destroy();
      else if (i === 4) answer(response, 200, '{"data":[{"ind');
      else good(request, response);
    };
    const encoder = await openIt({ retry: { retries: 4, firstMs: 100, longestMs: 10_000 } });
    expect((await encoder.embed(['a'], 'query')).length).toBe(2);
    expect(asked.length).toBe(6);
    // ½ to 1 times 100 · 2^i, but at least what the server asked for.
    expect(waits[0]).toBeGreaterThanOrEqual(50);
    expect(waits[0]).toBeLessThanOrEqual(100);
    expect(waits[1]).toBe(7000);
    expect(waits[3]).toBeGreaterThanOrEqual(400);
    expect(waits[3]).toBeLessThanOrEqual(800);
    const first = [...waits];
    asked = [];
    await (await openIt({ retry: { retries: 4, firstMs: 100, longestMs: 10_000 } })).embed(['a'], 'query');
    expect(waits).toEqual(first);
  });

  it('gives up in the end, as an outage', async () => {
    reply = (i, request, response) => (i === 0 ? good(request, response) : answer(response, 503, 'loading'));
    const encoder = await openIt();
    await expect(encoder.embed(['a'], 'query')).rejects.toThrow(InfraError);
    await expect(encoder.embed(['a'], 'query')).rejects.toThrow(/\/v1\/embeddings answered 503 \(loading\)/);
    expect(asked.length).toBe(9);
  });

  it.each([
    ['too few', [[1, 2]], /1 for 2 texts/],
    [
      'too many',
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      /3 for 2 texts/,
    ],
    [
      'another dimension',
      [
        [1, 2],
        [1, 2, 3],
      ],
      /dimension 3; expected 2/,
    ],
    [
      'a number that is none',
      [
        [1, 2],
        [1, null],
      ],
      /data\.1\.embedding\.1/,
    ],
    ['an endless number', '{"data":[{"embedding":[1,2]},{"embedding":[1,1e999]}]}', /data\.1\.embedding\.1/],
    [
      'no direction',
      [
        [1, 2],
        [0, 0],
      ],
      /cannot be scaled/,
    ],
    [
      'one index twice',
      {
        data: [
          { index: 1, embedding: [1, 2] },
          { index: 1, embedding: [1, 2] },
        ],
      },
      /index 1 twice/,
    ],
    ['something else', { answer: 42 }, /no usable vectors: data/],
  ])('takes %s for an outage, never for vectors', async (_, given, says) => {
    const body = Array.isArray(given) ? { data: given.map((embedding, index) => ({ index, embedding })) } : given;
    reply = (i, request, response) => (i === 0 ? good(request, response) : answer(response, 200, body));
    const encoder = await openIt();
    const failure = await encoder.embed(['a', 'b'], 'query').catch((error) => error);
    expect(failure).toBeInstanceOf(InfraError);
    expect(failure.message).toMatch(says);
  });

  it('does not wait for ever', async () => {
    reply = (i, request, response) => {
      if (i === 0) good(request, response);
      else if (i === 1) response.writeHead(200).write('{"data":');
    };
    const encoder = await openIt({ totalMs: 150, retry: { retries: 1, firstMs: 1, longestMs: 1 } });
    await expect(encoder.embed(['a'], 'query')).rejects.toThrow(/did not answer within 0.15 s/);
    expect(asked.length).toBe(3);
  });

  it.each([
    [
      404,
      { error: { message: 'The model `m` does not exist.', code: 404 } },
      /status 404: The model `m` does not exist/,
    ],
    [413, { error: 'batch size 64 > 32', type: 'Validation' }, /status 413: batch size 64 > 32/],
    [401, 'no\u001b[31m key', /status 401: no\\e\[31m key. Check the key/],
    [400, '', /status 400\. Check the address/],
  ])("a %d is the user's to mend, at once", async (status, body, says) => {
    reply = (_, __, response) => answer(response, status, body);
    const failure = await openIt().catch((error) => error);
    expect(failure).toBeInstanceOf(UserError);
    expect(failure.message).toMatch(says);
    expect(asked.length).toBe(1);
  });

  it('nobody there is an outage', async () => {
    const failure = await openIt({ url: 'http://127.0.0.1:9/v1' }).catch((error) => error);
    expect(failure).toBeInstanceOf(InfraError);
    expect(waits.length).toBe(3);
  });
});

describe('prefixes', () => {
  it.each(['intfloat/e5-base-v2', 'multilingual-e5-large', 'E5_small'])('%s has those of E5', (model) => {
    expect(prefixesOf(model)).toEqual({ query: 'query: ', passage: 'passage: ' });
  });
  it.each(['BAAI/bge-m3', 'the5', 'e51'])('%s has none', (model) => {
    expect(prefixesOf(model)).toEqual({ query: '', passage: '' });
  });
  it('can be given, one or both', () => {
    expect(prefixesOf('e5', { query: 'Q ' })).toEqual({ query: 'Q ', passage: 'passage: ' });
    expect(prefixesOf('bge', { passage: 'P ' })).toEqual({ query: '', passage: 'P ' });
  });
});

describe('an encoder by name', () => {
  it('is a server with a model behind a #, and the key comes from the environment', async () => {
    const encoder = await openEncoder(`${url}/#org/e5-x`, { env: { [ENCODER_KEY]: 'k' }, prefixes: { query: '' } });
    expect(encoder).toMatchObject({ name: 'org/e5-x', prefixes: { query: '', passage: 'passage: ' } });
    expect(asked[0]).toMatchObject({ url: '/v1/embeddings', headers: { authorization: 'Bearer k' } });
  });
  it.each([
    ['http://127.0.0.1:9/v1', /names no model/],
    ['http://me:pw@127.0.0.1:9/v1#m', /must not hold a password/],
    ['/nowhere/e5', /neither a server nor a folder/],
    [tmpdir(), /no config.json/],
  ])('%s is refused', async (spec, says) => {
    const failure = await openEncoder(spec, { env: {} }).catch((error) => error);
    expect(failure).toBeInstanceOf(UserError);
    expect(failure.message).toMatch(says);
  });
});

describe('a local encoder', () => {
  let dir = '';
  let folder = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'crossfold-encoder-'));
    folder = join(dir, 'tiny-e5');
    await mkdir(join(folder, 'onnx'), { recursive: true });
    for (const file of ['config.json', 'tokenizer.json', 'onnx/model.onnx']) await writeFile(join(folder, file), '{}');
  });
  afterEach(() => rm(dir, { recursive: true }));

  const fake = (calls: unknown[]): Transformers => ({
    env: { allowRemoteModels: true, allowLocalModels: false, localModelPath: '' },
    async pipeline(...opened) {
      calls.push(opened);
      return async (texts, options) => {
        calls.push([texts, options]);
        return { dims: [texts.length, 2], data: Float32Array.from(texts.flatMap((text) => [3 * text.length, 0])) };
      };
    },
  });

  it('opens its folder offline and runs in batches', async () => {
    const calls: unknown[] = [];
    const transformers = fake(calls);
    const encoder = await localEncoder(folder, { batch: 2, load: async () => transformers });
    expect(transformers.env).toEqual({ allowRemoteModels: false, allowLocalModels: true, localModelPath: dir });
    expect(encoder).toMatchObject({ name: 'tiny-e5', dimension: 2 });
    expect([...(await encoder.embed(['a', 'b', 'c'], 'passage'))]).toEqual([1, 0, 1, 0, 1, 0]);
    const how = { pooling: 'mean', normalize: true };
    expect(calls).toEqual([
      ['feature-extraction', 'tiny-e5', { dtype: 'fp32' }],
      [['dimension'], how],
      [['passage: a', 'passage: b'], how],
      [['passage: c'], how],
    ]);
  });

  it('takes a quantised export where there is no other, and says so where there is none', async () => {
    await rm(join(folder, 'onnx/model.onnx'));
    const calls: unknown[] = [];
    await expect(localEncoder(folder, { load: async () => fake(calls) })).rejects.toThrow(
      /there is no onnx.model.onnx or/,
    );
    await writeFile(join(folder, 'onnx/model_quantized.onnx'), '');
    await localEncoder(folder, { load: async () => fake(calls) });
    expect(calls[0]).toEqual(['feature-extraction', 'tiny-e5', { dtype: 'q8' }]);
  });

  it('says how to install the package where it is missing', async () => {
    const load = () => Promise.reject(new Error('Cannot find package'));
    const failure = await localEncoder(folder, { load }).catch((error) => error);
    expect(failure).toBeInstanceOf(UserError);
    expect(failure.message).toContain('npm install @huggingface/transformers@4.3.2');
  });
});
