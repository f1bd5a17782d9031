/** The client against real ports: our own server, and servers that say anything. */
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedPolicy, scriptedTokenizer } from '../../src/engine/scripted.ts';
import { exact } from '../../src/matcher/exact.ts';
import { advantages } from '../../src/method/advantage.ts';
import { type HttpRetrieverOptions, httpRetriever } from '../../src/retriever/http/client.ts';
import { openHttpRetriever } from '../../src/retriever/http/open.ts';
import { readHits, SchemaFailure } from '../../src/retriever/http/response.ts';
import { serveSearch } from '../../src/retriever/server/listen.ts';
import type { SearchIndex } from '../../src/retriever/server/probe.ts';
import type { Environment } from '../../src/rollout/converse.ts';
import { searchR1 } from '../../src/text/dialect/search-r1.ts';
import { agreementOf, grade } from '../../src/train/grade.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { type HttpFailure, openHttp } from '../../src/util/http.ts';
import { type Answered, fakeServer, indexOf, passage, towns } from './wire.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON read by a test
  readonly input: any;
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON read by a test
  readonly expected: any;
}

const FILE = new URL('../../../shared/cases/cases.jsonl', import.meta.url);
const cases: readonly Case[] = existsSync(FILE)
  ? readFileSync(FILE, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  : [];
if (cases.length === 0) console.log(`skipped: no shared cases at ${FILE.pathname}`);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const json = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

/** Answers query by query with one hit named after it, as Search-R1 does. */
const namesake = (_: number, body: string, response: ServerResponse): void =>
  json(response, {
    result: (JSON.parse(body).queries as string[]).map((q) => [
      { document: { id: `id ${q}`, contents: `"${q}"\nabout ${q}` }, score: 0.5 },
    ]),
  });

async function against(answer: Parameters<typeof fakeServer>[0], more: Partial<HttpRetrieverOptions> = {}) {
  const server: Answered = await fakeServer(answer);
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
  };
  const retriever = httpRetriever({ url: `${server.url}/retrieve`, sleep, ...more });
  closing.push(server.close, retriever.close);
  return { ...server, retriever, waits, sleep };
}

const failure = async (work: Promise<unknown>): Promise<HttpFailure> => {
  const error = await work.then(
    () => null,
    (e) => e,
  );
  expect(error).toBeInstanceOf(InfraError);
  return error;
};

describe('searching', () => {
  it('asks as Search-R1 does and reads the answer', async () => {
    const { retriever, bodies, url } = await against(namesake);
    expect(retriever.fingerprint).toBe(`http(${url}/retrieve)`);
    expect(await retriever.search(['Oker', 'half \ud83d'], 3)).toEqual([
      [{ passage: passage('id Oker', 'Oker', 'about Oker'), score: 0.5 }],
      [{ passage: passage('id half \ufffd', 'half \ufffd', 'about half \ufffd'), score: 0.5 }],
    ]);
    expect(bodies.map((b) => JSON.parse(b))).toEqual([
      { queries: ['Oker', 'half \ufffd'], topk: 3, return_scores: true },
    ]);
  });

  it('asks once for what comes twice, and again for another k', async () => {
    const { retriever, bodies } = await against(namesake);
    await retriever.search(['a', 'b', 'a'], 3);
    const again = await retriever.search(['b', 'c', 'a', ' '], 3);
    expect(again.map((hits) => hits[0]?.passage.id)).toEqual(['id b', 'id c', 'id a', undefined]);
    await retriever.search(['a'], 2);
    expect(bodies.map((b) => JSON.parse(b).queries)).toEqual([['a', 'b'], ['c'], ['a']]);
    expect([await retriever.search([], 3), await retriever.search(['x'], 0)]).toEqual([[], [[]]]);
    expect(bodies).toHaveLength(3);
  });

  it('keeps the results that were used last', async () => {
    const { retriever, bodies } = await against(namesake, { cachedHits: 2 });
    for (const query of ['a', 'b', 'a', 'c', 'a', 'b']) await retriever.search([query], 1);
    expect(bodies.map((b) => JSON.parse(b).queries[0])).toEqual(['a', 'b', 'c', 'b']);
  });

  it('cuts a batch into requests and keeps its order', async () => {
    const { retriever, bodies } = await against(namesake, { batch: 3 });
    const queries = Array.from({ length: 10 }, (_, i) => `q${i}`);
    const found = await retriever.search(queries, 1);
    expect(found.map((hits) => hits[0]!.passage.title)).toEqual(queries);
    expect(bodies.map((b) => JSON.parse(b).queries.length).sort()).toEqual([1, 3, 3, 3]);
  });
});

describe('failures', () => {
  it.each([408, 429, 500, 502, 503, 504])('tries again after %i', async (status) => {
    const { retriever, waits } = await against((n, body, response) =>
      n < 2 ? json(response, { error: 'busy' }, status) : namesake(n, body, response),
    );
    expect((await retriever.search(['a'], 1))[0]).toHaveLength(1);
    expect(waits).toHaveLength(2);
    expect(waits[0]).toBeGreaterThanOrEqual(250);
    expect(waits[0]).toBeLessThanOrEqual(500);
    expect(waits[1]).toBeGreaterThanOrEqual(500);
    expect(waits[1]).toBeLessThanOrEqual(1000);
  });

  it('stops after three retries, and waits the same in every run', async () => {
    const runs = [1, 2].map(async () => {
      const { retriever, waits, bodies } = await against((_, __, response) => json(response, {}, 500));
      return { error: await failure(retriever.search(['a'], 1)), waits, requests: bodies.length };
    });
    const [one, two] = await Promise.all(runs);
    expect(one!.requests).toBe(4);
    expect(one!.error).toMatchObject({ kind: 'status', status: 500 });
    expect(one!.waits).toEqual(two!.waits);
  });

  it('waits as long as the server asks, unless that is too long', async () => {
    const asked = await against((n, body, response) =>
      n === 0 ? json(response, {}, 503, { 'retry-after': '7' }) : namesake(n, body, response),
    );
    await asked.retriever.search(['a'], 1);
    expect(asked.waits).toEqual([7000]);
    const long = await against((_, __, response) => json(response, {}, 429, { 'retry-after': '3600' }));
    expect(await failure(long.retriever.search(['a'], 1))).toMatchObject({ status: 429, afterMs: 3_600_000 });
    expect([long.waits, long.bodies.length]).toEqual([[], 1]);
  });

  it.each([400, 401, 404, 413, 422, 501, 302])('does not ask again after %i', async (status) => {
    const { retriever, bodies, url } = await against((_, __, response) => json(response, { error: 'no' }, status));
    const error = await failure(retriever.search(['a'], 1));
    expect(error.message).toBe(`${url}/retrieve answered ${status} (no)`);
    expect(bodies).toHaveLength(1);
  });

  it('does not keep a failure', async () => {
    const { retriever } = await against((n, body, response) =>
      n === 0 ? json(response, {}, 400) : namesake(n, body, response),
    );
    await failure(retriever.search(['a'], 1));
    expect((await retriever.search(['a'], 1))[0]).toHaveLength(1);
  });

  it('a broken connection, a silent server, an endless reply and nobody there are told apart', async () => {
    const retry = { retries: 1, firstMs: 1, longestMs: 1 };
    const torn = await against((_, __, response) => response.socket!.destroy(), { retry });
    expect(await failure(torn.retriever.search(['a'], 1))).toMatchObject({ kind: 'connection', status: null });
    expect(torn.bodies).toHaveLength(2);
    const cut = await against(
      (_, __, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"result": [');
        setTimeout(() => response.destroy(), 20);
      },
      { retry },
    );
    expect(await failure(cut.retriever.search(['a'], 1))).toMatchObject({ kind: 'connection' });
    const limits = { connectMs: 1000, totalMs: 150, maxBytes: 1000 };
    const silent = await against(() => {}, { retry: { ...retry, retries: 0 }, http: openHttp(limits) });
    expect(await failure(silent.retriever.search(['a'], 1))).toMatchObject({ kind: 'timeout' });
    const endless = await against((_, __, response) => response.end('x'.repeat(5000)), { http: openHttp(limits) });
    expect(await failure(endless.retriever.search(['a'], 1))).toMatchObject({ kind: 'too-large' });
    expect(endless.bodies).toHaveLength(1);
    const gone = await against(namesake, { retry });
    await gone.close();
    expect(await failure(gone.retriever.search(['a'], 1))).toMatchObject({ kind: 'connection' });
  });
});

describe('shapes of replies', () => {
  const hits = (...list: unknown[]) => readHits(JSON.stringify({ result: [list] }), 1, 3)[0]!;

  it('reads documents however they are written', () => {
    const oker = { title: 'Oker', text: 'A river.' };
    expect(hits({ document: { id: 7, contents: '"Oker"\nA river.' }, score: '0.5' })).toEqual([
      { passage: { id: '7', source: '7', ...oker }, score: 0.5 },
    ]);
    for (const shape of [
      { document: { contents: 'Oker\nA river.' } },
      { document: { ...oker } },
      { content: '"Oker"\nA river.' },
      { ...oker, id: null },
    ]) {
      const [hit] = hits(shape);
      expect(hit).toMatchObject({ passage: oker, score: 1 });
      expect(hit!.passage.id).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it('gives falling scores where one is missing, and cuts at k', () => {
    const document = (id: string) => ({ id, contents: id });
    const list = [{ document: document('a'), score: 3 }, { document: document('b') }, document('c'), document('d')];
    expect(hits(...list).map(({ passage, score }) => [passage.id, score])).toEqual([
      ['a', 1],
      ['b', 1 / 2],
      ['c', 1 / 3],
    ]);
  });

  it.each([
    ['nothing', '', 'the reply is not JSON'],
    ['HTML', '<html>', 'the reply is not JSON'],
    ['NaN', '{"result": [[{"contents": "x", "score": NaN}]]}', 'the reply is not JSON'],
    ['null', 'null', 'the reply is null; expected {"result"'],
    ['a bare list', '[[]]', 'the reply is a list of 1'],
    ['another field', '{"results": []}', 'the reply is an object with "results"; expected {"result"'],
    ['no lists', '{"result": {}}', '"result" is an empty object'],
    ['fewer lists', '{"result": []}', '"result" has 0 lists for 1 queries; expected one per query'],
    ['more lists', '{"result": [[], []]}', '"result" has 2 lists for 1 queries'],
    ['no list', '{"result": [null]}', '"result"[0] is null; expected a list of hits'],
    ['a text', '{"result": [["Oker"]]}', '"result"[0][0] is "Oker"; expected {"document", "score"}'],
    ['null document', '{"result": [[{"document": null}]]}', '"result"[0][0]."document" is null'],
    ['null contents', '{"result": [[{"contents": null}]]}', 'is an object with "contents"; expected'],
    ['a nested title', '{"result": [[{"text": "x", "title": {}}]]}', 'is an object with "text", "title"; expected'],
    ['an odd id', '{"result": [[{"contents": "x", "id": [1]}]]}', '"result"[0][0]."id" is a list of 1; expected'],
    ['an odd score', '{"result": [[{"contents": "x", "score": "high"}]]}', '"result"[0][0]."score" is "high"'],
  ])('refuses %s', (_, text, message) => {
    expect(() => readHits(text, 1, 3)).toThrow(SchemaFailure);
    expect(() => readHits(text, 1, 3)).toThrow(message);
  });

  it('never makes hits of a reply that has none, nor loses those it has', () => {
    const document = fc.record(
      {
        id: fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.jsonValue({ maxDepth: 1 })),
        contents: fc.oneof(fc.string(), fc.jsonValue({ maxDepth: 1 })),
        content: fc.string(),
        title: fc.string(),
        text: fc.oneof(fc.string(), fc.integer()),
        body: fc.string(),
      },
      { requiredKeys: [] },
    );
    const hit = fc.oneof(
      document,
      fc.record({ document: fc.oneof(document, fc.jsonValue({ maxDepth: 1 })), score: fc.jsonValue({ maxDepth: 1 }) }),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const body = fc.oneof(
      fc.record({ result: fc.array(fc.array(hit, { maxLength: 4 }), { maxLength: 3 }) }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(body, fc.integer({ min: 0, max: 3 }), (value, queries) => {
        const text = JSON.stringify(value);
        try {
          const lists = readHits(text, queries, 3);
          // Whatever is read was there: a list per query, each as long as the server's own (cut at 3).
          const result = (JSON.parse(text) as { result: unknown[][] }).result;
          expect(lists.map((list) => list.length)).toEqual(result.map((list) => Math.min(3, list.length)));
          expect(lists).toHaveLength(queries);
          for (const { passage, score } of lists.flat()) {
            expect(Number.isFinite(score)).toBe(true);
            expect([typeof passage.id, passage.id === '', typeof passage.text]).toEqual(['string', false, 'string']);
          }
        } catch (error) {
          if (!(error instanceof SchemaFailure)) throw error;
          expect(error.message).toContain('expected');
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(cases.filter((c) => c.kind === 'retrieval_response').map((c) => [c.id, c] as const))(
    'case %s',
    async (_, { input, expected }) => {
      for (const [name, wanted] of Object.entries<{ error?: string; message_names?: string[] }>(expected)) {
        const { retriever, bodies } = await against((_, __, response) => json(response, input[name]));
        if (wanted.error !== undefined) {
          const error = await failure(retriever.search(['Oker'], 3));
          expect(error.kind).toBe(wanted.error);
          for (const word of wanted.message_names!) expect(error.message).toContain(`"${word}"`);
        } else {
          const [list] = await retriever.search(['Oker'], 3);
          expect(list).toHaveLength(1);
          expect(list![0]).toMatchObject({ passage: expected.a, score: 0.81 });
        }
        expect(bodies).toHaveLength(1);
      }
    },
  );
});

describe('opening', () => {
  const serve = async (passages = towns, port = 0) => {
    const server = await serveSearch(async () => indexOf(passages), { host: '127.0.0.1', port });
    closing.push(server.close);
    return server;
  };
  const open = async (url: string) => {
    const retriever = await openHttpRetriever({ url, sleep: async () => {} });
    closing.push(retriever.close);
    return retriever;
  };

  it('has the fingerprint of the index behind our own server, and its hits', async () => {
    const { url } = await serve();
    const index = indexOf(towns);
    for (const address of [url, `${url}/`, `${url}/retrieve`, `${url}/retrieve/`]) {
      const retriever = await open(address);
      expect(retriever.fingerprint).toBe(index.fingerprint);
      const queries = ['a city in Poland', '東京', 'nothing of this', 'Oker'];
      expect(await retriever.search(queries, 3)).toEqual(await index.search(queries, 3));
    }
  });

  it('waits for an index that is being opened', async () => {
    let waits = 0;
    let ready = (): void => {};
    const server = await serveSearch(
      () =>
        new Promise<SearchIndex>((resolve) => {
          ready = () => resolve(indexOf(towns));
        }),
      { host: '127.0.0.1', port: 0 },
    );
    closing.push(server.close);
    const sleep = async (): Promise<void> => {
      if (++waits === 3) ready();
      await new Promise(setImmediate);
    };
    const retriever = await openHttpRetriever({ url: server.url, sleep });
    closing.push(retriever.close);
    expect(waits).toBeGreaterThanOrEqual(3);
  });

  it('gives up on an index that never opens, and at once on one that cannot', async () => {
    const slow = await serveSearch(() => new Promise<never>(() => {}), { host: '127.0.0.1', port: 0 });
    const broken = await serveSearch(() => Promise.reject(new UserError('x.idx: damaged')), {
      host: '127.0.0.1',
      port: 0,
    });
    closing.push(slow.close, broken.close);
    await expect(openHttpRetriever({ url: slow.url, patienceMs: 1000, sleep: async () => {} })).rejects.toThrow(
      'the index is not open after 1 s',
    );
    const error = await failure(open(broken.url));
    expect(error.message).toContain('the index cannot be served: x.idx: damaged');
  });

  it('notices that the server was started with another index', async () => {
    const { url, close } = await serve();
    const retriever = await open(url);
    expect(await retriever.search(['Oker'], 1)).toHaveLength(1);
    await close();
    closing.splice(closing.indexOf(close), 1);
    await serve(towns.slice(1), Number(new URL(url).port));
    const error = await failure(retriever.search(['Tartu'], 1));
    expect(error.message).toContain('serves another index than when it was opened');
  });

  it.each(['127.0.0.1:8000', 'ftp://x', 'http://user:secret@127.0.0.1:8000', ''])(
    'refuses the address "%s"',
    async (url) => {
      await expect(openHttpRetriever({ url })).rejects.toBeInstanceOf(UserError);
    },
  );

  it.each([
    ['another shape', (r: ServerResponse) => json(r, { results: [] }), 'is an object with "results"'],
    ['a web page', (r: ServerResponse) => void r.end('<html>'), 'the reply is not JSON'],
    ['a 404', (r: ServerResponse) => json(r, {}, 404), 'answered 404'],
  ])('a server with %s is a wrong address', async (_, answer, message) => {
    const server = await fakeServer((__, ___, response) => answer(response));
    closing.push(server.close);
    const error = await openHttpRetriever({ url: server.url }).catch((e) => e);
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(message);
    expect(error.message).toContain("speaks Search-R1's /retrieve");
  });

  it('takes a server without a /health by its address', async () => {
    const server = await fakeServer(namesake);
    closing.push(server.close);
    expect((await open(server.url)).fingerprint).toBe(`http(${server.url}/retrieve)`);
  });
});

describe('an outage is not a wrong answer', () => {
  const TAGS = ['<|im_end|>'];
  const tokenizer = scriptedTokenizer(TAGS);
  const environment = (retriever: Environment['retriever'], final: string): Environment => ({
    policy: scriptedPolicy('p', tokenizer, TAGS, (prompt) =>
      prompt.includes('easy') || prompt.includes('<information>') ? final : '<search>Oker</search>',
    ),
    tokenizer,
    dialect: { ...searchR1({ stop: TAGS }), solverPrompt: (question) => [`Q: ${question}\n`] },
    retriever,
    topK: 3,
    limits: { turns: 4, tokensPerTurn: 200, contextLength: 10_000 },
    sampling: { temperature: 1, topP: 1 },
  });
  const asking = (question: string) => ({ question, label: 'Oker', source: 's', hops: 1 as const, key: question });

  /** What five attempts at each of two questions come to; only the hard one searches. */
  async function graded(event: { http_status: number; body: string }, final: string, outages = Infinity) {
    const { retriever, bodies } = await against((n, body, response) =>
      n < outages ? void response.writeHead(event.http_status).end(event.body) : namesake(n, body, response),
    );
    const groups = await grade([asking('hard'), asking('easy')], 5, environment(retriever, final), exact);
    return { groups, requests: bodies.length };
  }

  it.each(cases.filter((c) => c.kind === 'retrieval_error').map((c) => [c.id, c] as const))(
    'case %s',
    async (_, { input, expected }) => {
      const { groups, requests } = await graded(input.event, input.final);
      const [hard, easy] = groups;
      const inBatch = groups.flatMap((g, slot) => g.rollouts.map((rollout, j) => ({ rollout, slot, j })));
      const { trainable, idle } = advantages(
        inBatch.map(({ slot, j }) => (groups[slot]!.feedback.matches[j] ? 1 : 0)),
        inBatch.map(({ slot }) => `slot ${slot}`),
      );
      expect({
        outcome: hard!.failed === 5 ? 'infra_error' : 'scored',
        counted_as_wrong: hard!.feedback.matches.length > 0 || agreementOf([hard!]) !== null,
        in_training_batch: [...trainable, ...idle.map(({ group }) => group)].includes('slot 0'),
        group_action: `retry<=${requests - 1} then ${hard!.rollouts.length === 0 ? 'drop' : 'keep'}`,
      }).toEqual(expected);
      // The question that needed no search is scored as ever: "unknown" is wrong.
      expect([easy!.failed, easy!.feedback.matches]).toEqual([0, Array(5).fill(false)]);
    },
  );

  it('and one that passes within the retries leaves no trace', async () => {
    const { groups, requests } = await graded({ http_status: 429, body: 'quota' }, '<answer>Oker</answer>', 3);
    expect(requests).toBe(4);
    expect(groups.map((g) => [g.failed, g.feedback.matches])).toEqual(Array(2).fill([0, Array(5).fill(true)]));
  });
});
