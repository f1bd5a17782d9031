import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { SERVER_SETTINGS, type ServerSettings, searchApp } from '../../src/retriever/server/app.ts';
import { type Serving, serveSearch } from '../../src/retriever/server/listen.ts';
import { probeComplaint, type SearchIndex, selfProbe } from '../../src/retriever/server/probe.ts';
import { fromContents, toContents } from '../../src/retriever/wire.ts';
import type { Hit } from '../../src/retriever.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { indexOf, passage, towns } from './wire.ts';

const index = indexOf(towns);

/** An app over `opened`, ready when it is; `post` sends a body as it is, `status` and `json` are what came back. */
async function app(opened: Promise<SearchIndex> | SearchIndex = index, settings: Partial<ServerSettings> = {}) {
  const failures: unknown[] = [];
  const { fetch, drain } = searchApp(Promise.resolve(opened), { ...SERVER_SETTINGS, ...settings }, (e) =>
    failures.push(e),
  );
  await new Promise(setImmediate);
  const send = async (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>) => {
    const response = await fetch(new Request(`http://x${path}`, { method, ...(body === undefined ? {} : { body }) }));
    const text = await response.text();
    const json = text.startsWith('{') ? JSON.parse(text) : null;
    return { status: response.status, headers: response.headers, text, json };
  };
  return { send, drain, failures, post: (body: unknown) => send('POST', '/retrieve', JSON.stringify(body)) };
}

/** An index whose searches wait until they are let go. */
function held() {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const search = async (queries: readonly string[], k: number) => {
    await gate;
    return index.search(queries, k);
  };
  return { index: { ...index, search }, release: () => release() };
}

describe('POST /retrieve', () => {
  it('gives documents with scores when asked for', async () => {
    const { json, status } = await (await app()).post({
      queries: ['oker river', 'tokyo'],
      topk: 1,
      return_scores: true,
    });
    expect(status).toBe(200);
    const score = (await index.search(['oker river'], 1))[0]![0]!.score;
    expect(json).toEqual({
      result: [[{ document: { id: 'p1', contents: '"Oker"\nThe Oker is a river in Lower Saxony.' }, score }], []],
    });
  });

  it.each([[{}], [{ return_scores: false }], [{ return_scores: null, topk: null, other: 1 }]])(
    'gives bare documents with %j',
    async (more) => {
      const { json } = await (await app(index, { topk: 1 })).post({ queries: ['Tartu city'], ...more });
      expect(json).toEqual({
        result: [[{ id: 'p4', contents: '"Tartu"\nTartu is a city in Estonia. It has a university.' }]],
      });
    },
  );

  it('gives nothing for no query', async () => {
    expect((await (await app()).post({ queries: [] })).json).toEqual({ result: [] });
  });

  it.each([
    [{}, '"queries" is missing; expected a list of texts'],
    [{ queries: 'Oker' }, '"queries" is a string'],
    [{ queries: null }, '"queries" is null'],
    [{ queries: ['a', 7] }, '"queries"[1] is a number; expected a text'],
    [{ queries: ['x'.repeat(20_000)] }, '"queries"[0] has 20000 characters'],
    [{ queries: Array(5000).fill('a') }, '"queries" has 5000 entries; at most 4096'],
    [{ queries: ['a'], topk: 0 }, '"topk" is 0; expected a whole number from 1 to 1000'],
    [{ queries: ['a'], topk: 1001 }, '"topk" is 1001'],
    [{ queries: ['a'], topk: 1.5 }, '"topk" is 1.5'],
    [{ queries: ['a'], topk: '3' }, '"topk" is a string'],
    [{ queries: Array(4000).fill('a'), topk: 100 }, '"queries" × "topk" is 400000'],
    [{ queries: ['a'], return_scores: 'yes' }, '"return_scores" is a string'],
    [['a'], 'the body is a list'],
    ['a', 'the body is a string'],
  ])('refuses %j', async (body, message) => {
    const { status, json } = await (await app()).post(body);
    expect([status, Object.keys(json)]).toEqual([400, ['error']]);
    expect(json.error).toContain(message);
  });

  it.each(['', '{', '{"queries": ["a"]} x', '\u0000', '[['.repeat(50_000)])(
    'refuses what is not JSON',
    async (body) => {
      const { status, json } = await (await app()).send('POST', '/retrieve', body);
      expect(status).toBe(400);
      expect(json.error).toMatch(/^the body is not JSON \(/);
    },
  );

  it('refuses what is not UTF-8', async () => {
    const { send, failures } = await app();
    const before = new TextEncoder().encode('{"queries": ["caf');
    const after = new TextEncoder().encode('"]}');
    for (const bad of [[0xe9], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const { status, json } = await send('POST', '/retrieve', Uint8Array.from([...before, ...bad, ...after]));
      expect(status).toBe(400);
      expect(json.error).toMatch(/^the body is not UTF-8 text/);
    }
    const good = Uint8Array.from([0xef, 0xbb, 0xbf, ...before, 0xc3, 0xa9, ...after]);
    expect((await send('POST', '/retrieve', good)).status).toBe(200);
    expect(failures).toEqual([]);
  });

  it('refuses a body that is too long', async () => {
    const { status, json } = await (await app(index, { maxBodyBytes: 100 })).post({ queries: ['x'.repeat(100)] });
    expect([status, json]).toEqual([413, { error: 'the body is longer than 100 bytes; send fewer queries at once' }]);
  });

  it('answers whatever comes with 200 or 4xx', async () => {
    const { send, failures } = await app(index, { maxBodyBytes: 2000 });
    const body = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.json(),
      fc
        .record(
          {
            queries: fc.oneof(fc.array(fc.string({ unit: 'binary' }), { maxLength: 40 }), fc.jsonValue()),
            topk: fc.oneof(fc.integer(), fc.integer({ min: 1, max: 100 }), fc.jsonValue()),
            return_scores: fc.oneof(fc.boolean(), fc.jsonValue()),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.constantFrom('/retrieve', '/retrieve/', '/health', '/metrics', '/%'),
        async (b, path) => {
          const { status, json } = await send('POST', path, b);
          expect([200, 400, 404, 405, 413]).toContain(status);
          if (status !== 200) expect(json.error).toEqual(expect.stringMatching(/./));
          else expect(json.result).toHaveLength(JSON.parse(b).queries.length);
        },
      ),
      { numRuns: 300 },
    );
    expect(failures).toEqual([]);
  });

  it('a big batch leaves room for others between its slices', async () => {
    const { post, send } = await app();
    const order: string[] = [];
    const big = post({ queries: Array(400).fill('city') }).then(({ json }) => order.push(`big ${json.result.length}`));
    await new Promise(setImmediate);
    await send('GET', '/health').then(({ status }) => order.push(`health ${status}`));
    await big;
    expect(order).toEqual(['health 200', 'big 400']);
  });
});

describe('limits', () => {
  it('turns requests away when the queue is full, and answers those it took', async () => {
    const slow = held();
    const { post, send } = await app(slow.index, { concurrency: 1, queue: 2 });
    const taken = [1, 2, 3].map(() => post({ queries: ['Oker'] }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { status, json, headers } = await post({ queries: ['Oker'] });
    expect([status, json, headers.get('retry-after')]).toEqual([429, { error: '2 searches are waiting already' }, '1']);
    expect((await send('GET', '/metrics')).text).toMatch(/queue_length 2\n[\s\S]*in_flight 1\n/);
    slow.release();
    expect((await Promise.all(taken)).map((r) => r.status)).toEqual([200, 200, 200]);
  });

  it('gives up at the deadline', async () => {
    const { post } = await app(held().index, { deadlineMs: 30, concurrency: 1 });
    const both = await Promise.all([post({ queries: ['Oker'] }), post({ queries: ['Oker'] })]);
    expect(both.map((r) => [r.status, r.json.error])).toEqual(
      Array(2).fill([504, 'the search took longer than 0.03 s']),
    );
  });

  it('tells an outage of its own from a bug, and keeps what a bug says to itself', async () => {
    const broken = (error: Error) => ({ ...index, search: () => Promise.reject(error) });
    const out = await app(broken(new InfraError('the encoder is down')));
    expect(await out.post({ queries: ['a'] })).toMatchObject({ status: 503, json: { error: 'the encoder is down' } });
    const bug = await app(broken(new TypeError('secret')));
    const { status, text } = await bug.post({ queries: ['a'] });
    expect([status, text.includes('secret'), bug.failures.length]).toEqual([500, false, 1]);
  });
});

describe('routes', () => {
  it('is not ready until the index is', async () => {
    let open = (_: SearchIndex): void => {};
    const { send, post } = await app(
      new Promise((resolve) => {
        open = resolve;
      }),
    );
    const before = await send('GET', '/health');
    expect([before.status, before.json]).toEqual([503, { status: 'loading', reason: 'the index is being opened' }]);
    const early = await post({ queries: ['a'] });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    open(index);
    await new Promise(setImmediate);
    const after = await send('GET', '/health');
    expect([after.status, after.json]).toEqual([200, { status: 'ready', index: index.fingerprint, passages: 5 }]);
  });

  it('says why it will never be ready', async () => {
    const { send, post } = await app(Promise.reject(new UserError('docs.idx: no index here')));
    const reason = 'the index cannot be served: docs.idx: no index here';
    expect((await send('GET', '/health')).json).toEqual({ status: 'failed', reason });
    expect(await post({ queries: ['a'] })).toMatchObject({ status: 503, json: { error: reason } });
  });

  it.each([
    ['GET', '/retrieve', 405, 'POST'],
    ['DELETE', '/retrieve', 405, 'POST'],
    ['POST', '/health', 405, 'GET'],
    ['PUT', '/metrics', 405, 'GET'],
    ['GET', '/', 404, null],
    ['POST', '/search', 404, null],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const reply = await (await app()).send(method, path);
    expect([reply.status, reply.headers.get('allow')]).toEqual([status, allow]);
    expect(reply.json.error).toEqual(expect.any(String));
  });

  it('counts what it did', async () => {
    const { post, send } = await app();
    await post({ queries: ['a', 'b', 'c'] });
    await post({ queries: ['a'] });
    await post({ queries: 1 });
    const { text, headers } = await send('GET', '/metrics');
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const line of [
      'crossfold_search_requests_total{status="200"} 2',
      'crossfold_search_requests_total{status="400"} 1',
      'crossfold_search_queries_total 4',
      'crossfold_search_request_seconds_count 3',
      'crossfold_search_queue_length 0',
      'crossfold_search_in_flight 0',
      'crossfold_search_index_passages 5',
    ])
      expect(text.split('\n')).toContain(line);
  });
});

describe('on a port', () => {
  let listening: Serving | undefined;
  const listen = async (opened: SearchIndex = index, port = 0): Promise<Serving> => {
    listening = await serveSearch(async () => opened, { host: '127.0.0.1', port });
    return listening;
  };
  afterEach(() => listening?.close());

  const ask = async (url: string, queries: readonly string[]) => {
    const response = await fetch(`${url}/retrieve`, { method: 'POST', body: JSON.stringify({ queries, topk: 1 }) });
    return {
      status: response.status,
      json: (await response.json()) as { result?: { id: string }[][]; error?: string },
    };
  };

  it('gives 64 clients at once each its own answer', async () => {
    const passages = Array.from({ length: 64 }, (_, i) => passage(`p${i}`, `Town ${i}`, `word${i} is a place`));
    const { url, ready } = await listen(indexOf(passages));
    await ready;
    const all = await Promise.all(
      Array.from({ length: 256 }, (_, i) => ask(url, [`word${i % 64} place`, `town ${(i + 1) % 64}`])),
    );
    expect(all.map(({ json }) => json.result?.map((list) => list[0]?.id))).toEqual(
      Array.from({ length: 256 }, (_, i) => [`p${i % 64}`, `p${(i + 1) % 64}`]),
    );
  });

  it('reads a body that comes in chunks without its length, and counts it', async () => {
    const { url, ready } = await listen();
    await ready;
    const send = async (parts: readonly string[]) => {
      const body = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      });
      return fetch(`${url}/retrieve`, { method: 'POST', body, duplex: 'half' } as RequestInit);
    };
    const response = await send(['{"queries": ["oker ', 'river"], "topk": 1}']);
    expect(((await response.json()) as { result: { id: string }[][] }).result[0]![0]!.id).toBe('p1');
    const parts = Array.from({ length: 9 }, () => ' '.repeat(2 ** 20));
    expect(
      await send(parts).then(
        ({ status }) => status,
        () => 'cut',
      ),
    ).toSatisfy((seen) => seen === 413 || seen === 'cut');
  });

  it('is there before its index is', async () => {
    let open = (_: SearchIndex): void => {};
    listening = await serveSearch(() => new Promise((resolve) => (open = resolve)), { host: '127.0.0.1', port: 0 });
    expect((await fetch(`${listening.url}/health`)).status).toBe(503);
    open(index);
    await listening.ready;
    expect((await fetch(`${listening.url}/health`)).status).toBe(200);
  });

  it('finishes what is under way and what waits when it is closed, and takes nothing new', async () => {
    const slow = held();
    // One passage: nothing to probe.
    const open = async () => ({ ...slow.index, passages: { ...index.passages, size: 1 } });
    const settings = { ...SERVER_SETTINGS, concurrency: 1 };
    const { url, ready, close } = await serveSearch(open, { host: '127.0.0.1', port: 0, settings });
    await ready;
    const taken = [ask(url, ['Oker']), ask(url, ['Tartu'])];
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closed = close();
    await expect(ask(url, ['Oker'])).rejects.toThrow('fetch failed');
    slow.release();
    const found = await Promise.all(taken);
    expect(found.map(({ status, json }) => [status, json.result?.[0]?.[0]?.id])).toEqual([
      [200, 'p1'],
      [200, 'p4'],
    ]);
    await closed;
  });

  it('refuses on a connection that is still open while it closes', async () => {
    const { post, drain, send } = await app();
    drain();
    const { status, json, headers } = await post({ queries: ['Oker'] });
    expect([status, json.error, headers.get('connection')]).toEqual([503, 'the server is shutting down', 'close']);
    expect((await send('GET', '/health')).json.status).toBe('closing');
  });

  it('says that a port is in use, or that a host is no address', async () => {
    const { url } = await listen();
    const port = Number(new URL(url).port);
    const open = async () => index;
    await expect(serveSearch(open, { host: '127.0.0.1', port })).rejects.toThrow(
      new UserError(`port ${port} on 127.0.0.1 is in use; stop what listens there or give another --port`),
    );
    await expect(serveSearch(open, { host: '203.0.113.7', port: 0 })).rejects.toThrow(/^--host is "203\.0\.113\.7"/);
  });

  it("answers Search-R1's own way of asking", async ({ skip }) => {
    const { url, ready } = await listen();
    await ready;
    // requests.post(url, json=payload).json()['result'], without the package.
    const script = [
      'import json, sys, urllib.request',
      'payload = {"queries": ["Łódź city", "oker"], "topk": 3, "return_scores": True}',
      'request = urllib.request.Request(sys.argv[1], data=json.dumps(payload).encode(), headers={"Content-Type": "application/json"})',
      'result = json.loads(urllib.request.urlopen(request, timeout=20).read())["result"]',
      'def passages(hits):',
      '    lines = ""',
      '    for i, item in enumerate(hits):',
      '        content = item["document"]["contents"]',
      '        lines += f"Doc {i+1}(Title: {content.split(chr(10))[0]}) {chr(10).join(content.split(chr(10))[1:])}|"',
      '    return lines',
      'print(json.dumps([passages(hits) for hits in result] + [type(result[0][0]["score"]).__name__]))',
    ].join('\n');
    const python = await promisify(execFile)('python3', ['-c', script, `${url}/retrieve`]).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
      return skip('no python3 here');
    });
    expect(JSON.parse(python.stdout)).toEqual([
      'Doc 1(Title: "Łódź") Łódź is a city in central Poland.|Doc 2(Title: "Tartu") Tartu is a city in Estonia. It has a university.|',
      'Doc 1(Title: "Oker") The Oker is a river in Lower Saxony.|',
      'float',
    ]);
  });
});

describe('self-probe', () => {
  const always = (hits: readonly Hit[]): SearchIndex => ({
    ...indexOf(towns),
    search: async (queries) => queries.map(() => hits),
  });

  it('takes an index that tells its passages apart, and small ones', async () => {
    await selfProbe(index);
    await selfProbe(indexOf(towns.slice(0, 1)));
    await selfProbe(indexOf([passage('a', '', '...'), passage('b', '', '?!'), passage('c', '', '—'), towns[0]!]));
  });

  it('refuses an index that finds one passage whatever is asked', async () => {
    await expect(selfProbe(always([{ passage: towns[1]!, score: 1 }]))).rejects.toThrow(
      /^the index is broken: 5 different probe queries all return the same passage \("p2"\)\. Build the index again/,
    );
    await expect(selfProbe(always([]))).rejects.toThrow(/5 probe queries, taken from its own passages, found nothing/);
    await expect(selfProbe(indexOf([]))).rejects.toThrow('the index holds no passages');
  });

  it('asks the same of the same index', async () => {
    const asked: (readonly string[])[] = [];
    const many = Array.from({ length: 500 }, (_, i) => passage(`p${i}`, `Town ${i}`, `place number ${i}`));
    const search = async (queries: readonly string[]) => {
      asked.push(queries);
      return queries.map(() => []);
    };
    const spied = { ...indexOf(many), search };
    for (let i = 0; i < 2; i++) await selfProbe(spied).catch(() => {});
    expect(asked[0]).toHaveLength(16);
    expect(new Set(asked[0]).size).toBe(16);
    expect(asked[1]).toEqual(asked[0]);
  });

  it('complains of sameness alone', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.constantFrom('a', 'b')), { maxLength: 6 }), (best) => {
        const same = best.length >= 2 && best.every((id) => id === best[0]);
        expect(probeComplaint(best) !== null).toBe(same);
      }),
    );
  });
});

describe('contents', () => {
  it('come back as title and text', () => {
    const line = fc.string({ unit: 'binary' }).filter((s) => !/[\r\n]/.test(s));
    fc.assert(
      fc.property(line, fc.string({ unit: 'binary' }), (title, text) => {
        expect(fromContents(toContents({ title, text }))).toEqual({ title, text });
      }),
    );
    expect(toContents({ title: 'a\nb', text: 'c' })).toBe('"a b"\nc');
    expect(fromContents('no title')).toEqual({ title: '', text: 'no title' });
    expect(fromContents('Plain\ntext')).toEqual({ title: 'Plain', text: 'text' });
  });
});
