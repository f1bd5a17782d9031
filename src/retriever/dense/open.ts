/** Opens a dense index for search. */
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import type { Encoder, Ranked, Ranker } from '../../retriever.ts';
import { UserError } from '../../util/error.ts';
import { contentId } from '../../util/id.ts';
import { exactTop, type Matrix, TILE_ROWS } from './exact.ts';
import { graphFile, newGraph } from './graph.ts';
import { checkEncoder, type DenseManifest } from './manifest.ts';
import { type Found, findUsearch, openUsearch, type Usearch } from './usearch.ts';
import { readRows } from './vectors.ts';

/** Row-major unit vectors of queries → for each its k best places. */
type Top = (queries: Float32Array, k: number) => Promise<Ranked[][]>;

export interface DenseFiles {
  readonly dir: string;
  readonly manifest: DenseManifest;
  readonly encoder: Encoder;
  /** Null: without native code. Default: usearch where it is installed. */
  readonly usearch?: Usearch | null;
}

/** A blank query has no hits. @throws UserError for another encoder, or files that are not those of the manifest. */
export async function openDense({ dir, manifest, encoder, usearch = findUsearch() }: DenseFiles): Promise<Ranker> {
  checkEncoder(manifest, encoder);
  const top = await openTop(dir, manifest, usearch);
  return {
    fingerprint: `dense(${manifest.kind},${contentId(JSON.stringify(manifest))})`,
    async rank(queries, k) {
      if (!Number.isInteger(k) || k < 0) throw new RangeError(`rank: k is ${k}; expected a whole number`);
      const asked = queries.map((query) => query.trim()).filter((query) => query !== '');
      if (asked.length === 0 || k === 0 || manifest.rows === 0) return queries.map(() => []);
      const found = await top(await encoder.embed(asked, 'query'), k);
      let next = 0;
      return queries.map((query) => (query.trim() === '' ? [] : found[next++]!));
    },
  };
}

async function openTop(dir: string, manifest: DenseManifest, usearch: Usearch | null): Promise<Top> {
  switch (manifest.kind) {
    case 'exact': {
      const tiles: Float32Array[] = [];
      for await (const tile of readRows(dir, manifest, TILE_ROWS)) tiles.push(tile);
      const matrix: Matrix = { tiles, dimension: manifest.dimension };
      return (queries, k) => exactTop(matrix, queries, k, usearch);
    }
    case 'hnsw-f16':
      return openGraph(dir, manifest, usearch ?? openUsearch());
    default:
      return manifest satisfies never;
  }
}

/** Queries searched between two turns of the event loop. */
const STEP = 64;

async function openGraph(
  dir: string,
  { dimension, rows, parameters, bytes }: DenseManifest & { readonly kind: 'hnsw-f16' },
  usearch: Usearch,
): Promise<Top> {
  const file = graphFile(dir);
  const size = await stat(file).then(
    (of) => of.size,
    () => 0,
  );
  const wrong = (what: string) => new UserError(`${file} ${what}. Build the index again.`);
  if (size !== bytes) throw wrong(`has ${size} bytes; expected ${bytes}`);
  const graph = newGraph(usearch, dimension, parameters);
  graph.view(file);
  if (graph.size() !== rows || graph.dimensions() !== dimension)
    throw wrong(`holds ${graph.size()} rows of ${graph.dimensions()}; expected ${rows} of ${dimension}`);
  return async (queries, k) => {
    // As many for every small k, so that a smaller k gives the head of a larger one.
    const wanted = Math.min(rows, Math.max(k, parameters.expansionSearch));
    const out: Ranked[][] = [];
    for (let from = 0; from < queries.length; from += STEP * dimension) {
      const block = queries.slice(from, from + STEP * dimension);
      const n = block.length / dimension;
      const found = graph.search(block, wanted, Math.min(n, availableParallelism()));
      const count = (q: number): number => Number(found.counts?.[q] ?? found.keys.length);
      for (let q = 0; q < n; q++) out.push(ranked(found, q * wanted, count(q)).slice(0, k));
      if (from + block.length < queries.length) await turn();
    }
    return out;
  };
}

const ranked = ({ keys, distances }: Found, from: number, count: number): Ranked[] =>
  Array.from({ length: count }, (_, i) => ({
    at: Number(keys[from + i]!),
    score: 1 - distances[from + i]!,
  })).sort((a, b) => b.score - a.score || a.at - b.at);
