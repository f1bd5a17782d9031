/**
 * Exact search: every row against every query. Scores are inner products summed in a float64 in the order of the components,
 * so equal rows tie exactly, and the same places come out with the native kernel and without it.
 */
import { availableParallelism } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import type { Ranked } from '../../retriever.ts';
import { type Best, bestOf } from './best.ts';
import type { Usearch } from './usearch.ts';

/** Rows of one buffer: small enough that scores of a tile stay in the cache. */
export const TILE_ROWS = 8192;
/** Queries scored together: a row is read once for all of them. */
const QUERY_BLOCK = 16;
/** Rows that the native kernel gives beyond k, so that ties at the end are rarely cut. */
const SPARE = 8;
/** More than a float32 sum of unit vectors can be off. */
const SLACK = 1e-5;

export interface Matrix {
  readonly tiles: readonly Float32Array[];
  readonly dimension: number;
}

/** For each row of `queries` (row-major, own buffer or not) its k best places. */
export async function exactTop(
  { tiles, dimension }: Matrix,
  queries: Float32Array,
  k: number,
  usearch: Usearch | null,
): Promise<Ranked[][]> {
  const out: Ranked[][] = [];
  const score = usearch === null ? plainTile : nativeTile(usearch);
  for (let from = 0; from < queries.length; from += QUERY_BLOCK * dimension) {
    const block = queries.slice(from, from + QUERY_BLOCK * dimension);
    const best = Array.from({ length: block.length / dimension }, () => bestOf(k));
    let first = 0;
    for (const tile of tiles) {
      score({ tile, first, dimension, k }, block, best);
      first += tile.length / dimension;
    }
    out.push(...best.map((b) => b.done()));
    if (from + block.length < queries.length) await turn();
  }
  return out;
}

interface Tile {
  readonly tile: Float32Array;
  /** Place of its first row. */
  readonly first: number;
  readonly dimension: number;
  readonly k: number;
}

/** The kernel without native code: four rows at a time, each sum in its own order. */
function plainTile(where: Tile, queries: Float32Array, best: readonly Best[]): void {
  best.forEach((b, q) => {
    plainRow(where, queries.subarray(q * where.dimension, (q + 1) * where.dimension), b);
  });
}

function plainRow({ tile, first, dimension }: Tile, query: Float32Array, best: Best): void {
  const rows = tile.length / dimension;
  let r = 0;
  for (; r + 4 <= rows; r += 4) {
    const [a, b, c, d] = [r * dimension, (r + 1) * dimension, (r + 2) * dimension, (r + 3) * dimension];
    let [s0, s1, s2, s3] = [0, 0, 0, 0];
    for (let j = 0; j < dimension; j++) {
      const x = query[j]!;
      s0 += tile[a + j]! * x;
      s1 += tile[b + j]! * x;
      s2 += tile[c + j]! * x;
      s3 += tile[d + j]! * x;
    }
    if (Math.max(s0, s1, s2, s3) < best.floor()) continue;
    best.offer(first + r, s0);
    best.offer(first + r + 1, s1);
    best.offer(first + r + 2, s2);
    best.offer(first + r + 3, s3);
  }
  for (; r < rows; r++) best.offer(first + r, dot(tile, r, query, dimension));
}

function dot(tile: Float32Array, row: number, query: Float32Array, dimension: number): number {
  const at = row * dimension;
  let sum = 0;
  for (let j = 0; j < dimension; j++) sum += tile[at + j]! * query[j]!;
  return sum;
}

/** usearch finds the candidates of a tile; we score them. Where more rows may be as good as its last one, all are scored. */
const nativeTile = (usearch: Usearch) => (where: Tile, queries: Float32Array, best: readonly Best[]) => {
  const { tile, first, dimension, k } = where;
  const rows = tile.length / dimension;
  const count = Math.min(k + SPARE, rows);
  const { keys, distances } = usearch.exactSearch(tile, queries, dimension, count, availableParallelism());
  best.forEach((b, q) => {
    const query = queries.subarray(q * dimension, (q + 1) * dimension);
    const found: Ranked[] = [];
    for (let i = q * count; i < (q + 1) * count; i++) {
      const row = Number(keys[i]!);
      found.push({ at: first + row, score: dot(tile, row, query, dimension) });
    }
    const floor = Math.max(b.floor(), found[k - 1]?.score ?? Number.NEGATIVE_INFINITY);
    const missed = 1 - distances[(q + 1) * count - 1]! + SLACK;
    if (count < rows && missed >= floor) plainRow(where, query, b);
    else for (const { at, score } of found) b.offer(at, score);
  });
};
