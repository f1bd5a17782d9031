/** The optional native package behind fast exact search and approximate search, as far as we use it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { UserError } from '../../util/error.ts';

/** Queries × count, nearest first. */
export interface Found {
  readonly keys: BigUint64Array;
  readonly distances: Float32Array;
}

export interface Graph {
  add(keys: BigUint64Array, vectors: Float32Array, threads: number): void;
  /** Of several queries: of query i the first counts[i] hold. Of one query: there are only those, and no counts. */
  search(queries: Float32Array, k: number, threads: number): Found & { readonly counts?: BigUint64Array };
  size(): number;
  dimensions(): number;
  save(path: string): void;
  /** Maps the file instead of reading it. */
  view(path: string): void;
}

export interface GraphOptions {
  readonly dimensions: number;
  readonly metric: 'ip';
  readonly quantization: 'f16';
  readonly connectivity: number;
  readonly expansion_add: number;
  readonly expansion_search: number;
}

/** Arrays given to it start at the beginning of their buffer: it ignores where a view starts. */
export interface Usearch {
  readonly version: string;
  newGraph(options: GraphOptions): Graph;
  /** The `count` nearest rows of every query; equal distances come in any order. */
  exactSearch(rows: Float32Array, queries: Float32Array, dimensions: number, count: number, threads: number): Found;
}

interface Package {
  readonly Index: new (options: GraphOptions) => Graph;
  exactSearch(
    rows: Float32Array,
    queries: Float32Array,
    dimensions: number,
    count: number,
    metric: 'ip',
    threads: number,
  ): Found;
}

/** Null where the package, or its native half for this machine, is not there. */
export function findUsearch(): Usearch | null {
  // By require: the package's ES module looks for its native half from the wrong folder and never ends.
  const require = createRequire(import.meta.url);
  try {
    const { Index, exactSearch } = require('usearch') as Package;
    const root = join(dirname(require.resolve('usearch')), '../../..');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return {
      version,
      newGraph: (options) => new Index(options),
      exactSearch: (rows, queries, dimensions, count, threads) =>
        exactSearch(rows, queries, dimensions, count, 'ip', threads),
    };
  } catch {
    return null;
  }
}

/** @throws UserError where it is not installed. */
export function openUsearch(): Usearch {
  const usearch = findUsearch();
  if (usearch !== null) return usearch;
  throw new UserError(
    'Approximate search needs the optional package usearch, which is not here or not built for this machine. ' +
      'Install it (npm install usearch@2.25.3), or use exact search.',
  );
}
