/** What every Retriever does. A new implementation adds a row to `implementations`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bm25 } from '../../src/retriever/bm25.ts';
import { openHttpRetriever } from '../../src/retriever/http/open.ts';
import { buildIndex } from '../../src/retriever/index/build.ts';
import { openIndex } from '../../src/retriever/index/open.ts';
import { serveSearch } from '../../src/retriever/server/listen.ts';
import type { Retriever } from '../../src/retriever.ts';
import type { Passage } from '../../src/types.ts';
import { indexOf } from '../retriever/wire.ts';

interface Opened {
  readonly retriever: Retriever;
  close?(): Promise<void>;
}

const implementations: readonly { readonly name: string; open(passages: readonly Passage[]): Promise<Opened> }[] = [
  { name: 'bm25', open: async (passages) => ({ retriever: bm25(passages) }) },
  {
    name: 'index',
    async open(passages) {
      const dir = mkdtempSync(join(tmpdir(), 'crossfold-'));
      const file = join(dir, 'passages.jsonl');
      writeFileSync(file, passages.map((p) => JSON.stringify(p)).join('\n'));
      await buildIndex({ inputs: [file], out: join(dir, 'idx'), version: '1', command: 'test' });
      const retriever = await openIndex(join(dir, 'idx'));
      return { retriever, close: () => retriever.close().then(() => rmSync(dir, { recursive: true, force: true })) };
    },
  },
  {
    name: 'http',
    async open(passages) {
      const server = await serveSearch(async () => indexOf(passages), { host: '127.0.0.1', port: 0 });
      const retriever = await openHttpRetriever({ url: server.url });
      return { retriever, close: () => Promise.all([retriever.close(), server.close()]).then(() => {}) };
    },
  },
];

const passage = (id: string, title: string, text: string): Passage => ({ id, source: id, title, text });

const corpus = [
  passage('p1', 'Oker', 'The Oker is a river in Lower Saxony.'),
  passage('p2', 'Łódź', 'Łódź is a city in central Poland.'),
  passage('p3', 'Twin A', 'A lighthouse stands on the island.'),
  passage('p4', 'Café de Flore', 'A coffeehouse in Paris.'),
  passage('p5', 'Tartu', 'Tartu is a city in Estonia. The city of Tartu has a university.'),
  passage('p6', 'Twin A', 'A lighthouse stands on the island.'),
  passage('p7', '東京', '東京は日本の首都です。'),
  passage('p8', 'Москва', 'Москва стоит на реке.'),
];

describe.each(implementations)('retriever contract: $name', ({ open }) => {
  let opened: Opened | undefined;
  const over = async (passages: readonly Passage[]): Promise<Retriever> => {
    opened = await open(passages);
    return opened.retriever;
  };
  afterEach(() => opened?.close?.());

  const ids = async (retriever: Retriever, query: string, k: number): Promise<readonly string[]> =>
    (await retriever.search([query], k))[0]!.map((hit) => hit.passage.id);

  it('puts the best passage first and gives whole passages', async () => {
    const [hits] = await (await over(corpus)).search(['Which city has the university of Tartu?'], 3);
    expect(hits![0]!.passage).toEqual(corpus[4]);
    expect(hits!.length).toBeLessThanOrEqual(3);
  });

  it('sorts by falling score, and scores are finite', async () => {
    const [hits] = await (await over(corpus)).search(['a city in Poland on the river'], 8);
    const scores = hits!.map((hit) => hit.score);
    expect(scores.length).toBeGreaterThan(2);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.every(Number.isFinite)).toBe(true);
  });

  it('breaks ties by corpus order', async () => {
    const retriever = await over(corpus);
    expect(await ids(retriever, 'lighthouse', 2)).toEqual(['p3', 'p6']);
    expect(await ids(retriever, 'island lighthouse twin', 1)).toEqual(['p3']);
    await opened?.close?.();
    expect(await ids(await over([...corpus].reverse()), 'lighthouse', 2)).toEqual(['p6', 'p3']);
  });

  it('takes a k larger than the corpus and repeats no passage', async () => {
    const found = await ids(await over(corpus), 'a city river lighthouse university', 1000);
    expect(found.length).toBeLessThanOrEqual(corpus.length);
    expect(new Set(found).size).toBe(found.length);
  });

  it('gives a smaller k the head of a larger one', async () => {
    const retriever = await over(corpus);
    const all = await ids(retriever, 'a city in the river', 8);
    for (const k of [1, 2, 3]) expect(await ids(retriever, 'a city in the river', k)).toEqual(all.slice(0, k));
  });

  it('answers each query in its place, as it would alone', async () => {
    const retriever = await over(corpus);
    const queries = Array.from({ length: 120 }, (_, i) => `${corpus[i % corpus.length]!.title} city ${i}`);
    const together = await retriever.search(queries, 3);
    const alone = await Promise.all(queries.map(async (query) => (await retriever.search([query], 3))[0]));
    expect(together).toHaveLength(120);
    expect(together).toEqual(alone);
    expect(together[1]![0]!.passage.id).toBe('p2');
  });

  it('gives no hits for an empty query, and nothing for no query', async () => {
    const retriever = await over(corpus);
    expect(await retriever.search(['', ' \n\t', 'Tartu'], 1).then((all) => all.map((hits) => hits.length))).toEqual([
      0, 0, 1,
    ]);
    expect(await retriever.search([], 3)).toEqual([]);
  });

  it.each([
    ['łódź', 'p2'],
    ['ŁÓDŹ', 'p2'],
    ['café', 'p4'],
    ['cafe\u0301', 'p4'],
    ['日本の首都', 'p7'],
    ['москва', 'p8'],
  ])('finds %s', async (query, id) => {
    expect(await ids(await over(corpus), query, 1)).toEqual([id]);
  });

  it('reads a query of punctuation, control characters and half a pair as text', async () => {
    const [a, b] = await (await over(corpus)).search(['"(*)?! \u0000 \uD83D', 'Tartu: "city" AND (NOT) \\ \uD83D'], 2);
    expect(Array.isArray(a)).toBe(true);
    expect(b![0]!.passage.id).toBe('p5');
  });

  it('has a fingerprint that names the corpus', async () => {
    const first = (await over(corpus)).fingerprint;
    await opened?.close?.();
    const again = (await over(corpus.map((p) => ({ ...p })))).fingerprint;
    await opened?.close?.();
    const other = (await over([...corpus.slice(1), passage('p1', 'Oker', 'The Oker is a canal.')])).fingerprint;
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});
