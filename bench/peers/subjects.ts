/** The searches that run in Node, ours and peers'. Each is opened in a process of its own (bench/peers/subject.ts). */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { analyze } from '../../src/retriever/analyze.ts';
import { bm25 } from '../../src/retriever/bm25.ts';
import { buildDense } from '../../src/retriever/dense/build.ts';
import { HNSW } from '../../src/retriever/dense/graph.ts';
import { openDense } from '../../src/retriever/dense/open.ts';
import { findUsearch, type Usearch } from '../../src/retriever/dense/usearch.ts';
import { buildIndex } from '../../src/retriever/index/build.ts';
import { openIndex } from '../../src/retriever/index/open.ts';
import type { Encoder } from '../../src/retriever.ts';
import { winkSearch } from '../../test/retriever/wink.ts';
import { readPassages, readQueries, readVectors } from './corpus.ts';

export const TOP = 10;

/** Places of the best TOP passages for each of these queries, by their numbers. */
export type Search = (queries: readonly number[]) => Promise<readonly (readonly number[])[]>;

export interface Subject {
  readonly name: string;
  /** What it is compared within. */
  readonly group: 'words' | 'exact' | 'graph';
  /** Builds its index over the corpus in `dir`. `load` is not counted as building. */
  load(dir: string): () => Promise<Search>;
}

/** One query after the other, for libraries that know no more. */
const oneByOne =
  <T>(inputs: readonly T[], search: (input: T) => readonly number[]): Search =>
  async (queries) =>
    queries.map((q) => search(inputs[q]!));

const require = createRequire(import.meta.url);

const words = (name: string, open: (dir: string) => () => Promise<Search>): Subject => ({
  name,
  group: 'words',
  load: open,
});

interface MiniSearch {
  addAll(documents: readonly object[]): void;
  search(query: string): readonly { readonly id: number }[];
}
interface Libsql {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...values: unknown[]): void;
    all(...values: unknown[]): readonly { readonly at: number }[];
  };
}
interface Hnswlib {
  readonly HierarchicalNSW: new (
    space: 'ip',
    dimension: number,
  ) => {
    initIndex(size: number, m: number, ef: number): void;
    setEf(ef: number): void;
    addPoint(point: readonly number[], label: number): void;
    searchKnn(query: readonly number[], k: number): { readonly neighbors: readonly number[] };
  };
}

/** Encodes text "7" as row 7: only search is measured. */
const tableOf = (dir: string, name: 'rows' | 'queries', dimension: number): Encoder & { readonly size: number } => {
  const rows = readVectors(dir, name);
  return {
    name: 'table',
    size: rows.length / dimension,
    dimension,
    prefixes: { query: '', passage: '' },
    async embed(texts) {
      const out = new Float32Array(texts.length * dimension);
      texts.forEach((text, i) => {
        out.set(rows.subarray(Number(text) * dimension, (Number(text) + 1) * dimension), i * dimension);
      });
      return out;
    },
  };
};

function dense(name: string, ann: boolean, usearch: () => Usearch | null): Subject {
  return {
    name,
    group: ann ? 'graph' : 'exact',
    load(dir) {
      const { dimension } = readQueries(dir);
      const [encoder, asking] = [tableOf(dir, 'rows', dimension), tableOf(dir, 'queries', dimension)];
      return async () => {
        const get = async (places: readonly number[]) =>
          places.map((at) => ({ id: '', source: '', title: '', text: String(at) }));
        const passages = { size: encoder.size, get };
        const manifest = await buildDense({ dir, passages, encoder, ann, corpus: name });
        const ranker = await openDense({ dir, manifest, encoder: asking, usearch: usearch() });
        return async (queries) => (await ranker.rank(queries.map(String), TOP)).map((list) => list.map(({ at }) => at));
      };
    },
  };
}

export const SUBJECTS: readonly Subject[] = [
  words('crossfold bm25', (dir) => {
    const [passages, { queries }] = [readPassages(dir), readQueries(dir)];
    return async () => {
      const at = new Map(passages.map(({ id }, i) => [id, i]));
      const retriever = bm25(passages);
      return async (asked) =>
        (
          await retriever.search(
            asked.map((q) => queries[q]!),
            TOP,
          )
        ).map((hits) => hits.map((hit) => at.get(hit.passage.id)!));
    };
  }),
  words('crossfold index', (dir) => {
    const { queries } = readQueries(dir);
    return async () => {
      const out = join(dir, 'index');
      await buildIndex({ inputs: [join(dir, 'passages.jsonl')], out, words: 0, version: 'bench', command: 'bench' });
      const index = await openIndex(out);
      return async (asked) =>
        (
          await index.search(
            asked.map((q) => queries[q]!),
            TOP,
          )
        ).map((hits) => hits.map((_, i) => i));
    };
  }),
  words('wink', (dir) => {
    const [passages, { queries }] = [readPassages(dir), readQueries(dir)];
    return async () => {
      const search = winkSearch(passages);
      return oneByOne(queries, (query) => search(query, TOP));
    };
  }),
  words('minisearch', (dir) => {
    const [passages, { queries }] = [readPassages(dir), readQueries(dir)];
    const Mini = require('minisearch') as new (options: object) => MiniSearch;
    return async () => {
      const engine = new Mini({
        fields: ['body'],
        tokenize: analyze,
        processTerm: (term: string) => term,
        searchOptions: { bm25: { k: 0.9, b: 0.4, d: 0 } },
      });
      engine.addAll(passages.map(({ title, text }, id) => ({ id, body: `${title}\n${text}` })));
      return oneByOne(queries, (query) =>
        engine
          .search(query)
          .slice(0, TOP)
          .map(({ id }) => id),
      );
    };
  }),
  words('SQLite FTS5', (dir) => {
    const [passages, { queries }] = [readPassages(dir), readQueries(dir)];
    const Database = require('libsql') as new (path: string) => Libsql;
    return async () => {
      const db = new Database(':memory:');
      db.exec("CREATE VIRTUAL TABLE p USING fts5(body, tokenize='unicode61 remove_diacritics 0'); BEGIN");
      const insert = db.prepare('INSERT INTO p(rowid, body) VALUES (?, ?)');
      passages.forEach(({ title, text }, i) => {
        insert.run(i, `${title}\n${text}`);
      });
      db.exec('COMMIT');
      const select = db.prepare(`SELECT rowid AS at FROM p WHERE p MATCH ? ORDER BY rank LIMIT ${TOP}`);
      const match = queries.map((query) =>
        analyze(query)
          .map((word) => `"${word}"`)
          .join(' OR '),
      );
      return oneByOne(match, (query) => select.all(query).map(({ at }) => at));
    };
  }),
  dense('crossfold exact', false, findUsearch),
  dense('crossfold exact, no native code', false, () => null),
  dense('crossfold hnsw f16', true, findUsearch),
  {
    name: 'hnswlib-node',
    group: 'graph',
    load(dir) {
      const { dimension } = readQueries(dir);
      const { HierarchicalNSW } = require('hnswlib-node') as Hnswlib;
      const list = (name: 'rows' | 'queries') => {
        const all = readVectors(dir, name);
        return Array.from({ length: all.length / dimension }, (_, i) => [
          ...all.subarray(i * dimension, (i + 1) * dimension),
        ]);
      };
      const [rows, queries] = [list('rows'), list('queries')];
      return async () => {
        const index = new HierarchicalNSW('ip', dimension);
        index.initIndex(rows.length, HNSW.connectivity, HNSW.expansionAdd);
        rows.forEach((row, i) => {
          index.addPoint(row, i);
        });
        index.setEf(HNSW.expansionSearch);
        return oneByOne(queries, (query) => index.searchKnn(query, TOP).neighbors);
      };
    },
  },
];
