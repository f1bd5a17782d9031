/**
 * What every subject of bench/retrieval.ts searches, in one folder, so that programs of any language read the same: passages.jsonl
 * and queries.json (words, and the settings of graphs), rows.f32 and queries.f32 (unit vectors, row-major).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HNSW } from '../../src/retriever/dense/graph.ts';
import type { Passage } from '../../src/types.ts';
import { type Rng, rng } from '../../src/util/rng.ts';
import { haveRealData, realPassages, realQuestions } from '../../test/retriever/real.ts';

export interface Words {
  readonly what: string;
  readonly passages: readonly Passage[];
  readonly queries: readonly string[];
}

export interface Corpus {
  readonly passages: readonly Passage[];
  readonly queries: readonly string[];
  readonly rows: Float32Array;
  readonly queryRows: Float32Array;
  readonly dimension: number;
}

const SETS = ['hotpotqa', '2wikimultihopqa', 'musique', 'popqa', 'wiki_kilt_r1searcher'];

/** The published passages beside the checkout with real questions; else, or when a size is given, made-up ones. */
export async function words(made: number | undefined): Promise<Words> {
  if (made === undefined && haveRealData()) {
    const passages: Passage[] = [];
    for (const set of SETS)
      for (const passage of await realPassages(set)) passages.push({ ...passage, id: `${set}:${passage.id}` });
    const queries = realQuestions('hotpotqa').map((q) => q.question);
    return { what: 'Wikipedia passages, HotpotQA questions', passages, queries };
  }
  const random = rng('bench');
  const sentence = (count: number): string =>
    Array.from({ length: count }, () => `w${Math.floor(60_000 * random.uniform() ** 4)}`).join(' ');
  const passages = Array.from({ length: made ?? 20_000 }, (_, i): Passage => {
    const id = `p${i}`;
    return { id, source: id, title: sentence(2), text: sentence(30 + random.below(120)) };
  });
  return { what: 'made-up passages', passages, queries: Array.from({ length: 200 }, () => sentence(16)) };
}

/** Directions that vary freely; the rest of a vector follows from them, as it does in vectors of texts. */
const FREE = 32;

/** Row-major unit vectors with few free directions, a common one and a little noise. */
export function vectors(count: number, dimension: number, seed: string): Float32Array {
  const mixing = normals(rng('mixing'), FREE * dimension);
  const random = rng('vectors', seed);
  const out = new Float32Array(count * dimension);
  for (let r = 0; r < count; r++) {
    const row = out.subarray(r * dimension, (r + 1) * dimension);
    const free = normals(random, FREE);
    for (let j = 0; j < dimension; j++) {
      let x = 6 + 0.5 * random.normal();
      for (let f = 0; f < FREE; f++) x += free[f]! * mixing[f * dimension + j]!;
      row[j] = x;
    }
    const length = Math.hypot(...row);
    for (let j = 0; j < dimension; j++) row[j]! /= length;
  }
  return out;
}

const normals = (random: Rng, count: number): Float32Array =>
  Float32Array.from({ length: count }, () => random.normal());

export function writeCorpus(dir: string, { passages, queries, rows, queryRows, dimension }: Corpus): void {
  writeFileSync(join(dir, 'passages.jsonl'), passages.map((passage) => `${JSON.stringify(passage)}\n`).join(''));
  writeFileSync(join(dir, 'queries.json'), JSON.stringify({ queries, dimension, hnsw: HNSW }));
  writeFileSync(join(dir, 'rows.f32'), new Uint8Array(rows.buffer));
  writeFileSync(join(dir, 'queries.f32'), new Uint8Array(queryRows.buffer));
}

export const readPassages = (dir: string): readonly Passage[] =>
  readFileSync(join(dir, 'passages.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Passage);

export const readQueries = (dir: string): { readonly queries: readonly string[]; readonly dimension: number } =>
  JSON.parse(readFileSync(join(dir, 'queries.json'), 'utf8')) as { queries: string[]; dimension: number };

export function readVectors(dir: string, name: 'rows' | 'queries'): Float32Array {
  const bytes = readFileSync(join(dir, `${name}.f32`));
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4).slice();
}
