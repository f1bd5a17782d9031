/** A corpus of made-up vectors: the text of a passage is its place, and the encoder knows the row of each place. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Encoder, PassageStore } from '../../src/retriever.ts';
import { rng } from '../../src/util/rng.ts';

/** Row-major unit vectors around a few directions, so that neighbours are near as those of texts are. */
export function madeUpRows(rows: number, dimension: number, seed: string): Float32Array {
  const random = rng('rows', seed);
  const centres = Array.from({ length: 20 }, () => Array.from({ length: dimension }, () => random.normal()));
  const out = new Float32Array(rows * dimension);
  for (let r = 0; r < rows; r++) {
    const centre = random.pick(centres);
    const row = centre.map((x) => x + random.normal());
    const length = Math.hypot(...row);
    row.forEach((x, j) => {
      out[r * dimension + j] = x / length;
    });
  }
  return out;
}

export const storeOf = (size: number): PassageStore => ({
  size,
  get: async (places) => places.map((at) => ({ id: `p${at}`, source: `s${at}`, title: '', text: String(at) })),
});

export interface TableEncoder extends Encoder {
  /** Texts encoded so far. */
  readonly seen: string[];
}

/** Text "7" is row 7. */
export function tableEncoder(rows: Float32Array, dimension: number, name = 'table'): TableEncoder {
  const seen: string[] = [];
  return {
    name,
    dimension,
    prefixes: { query: '', passage: '' },
    seen,
    embed: async (texts) => {
      seen.push(...texts);
      const out = new Float32Array(texts.length * dimension);
      texts.forEach((text, i) => {
        out.set(rows.subarray(Number(text) * dimension, (Number(text) + 1) * dimension), i * dimension);
      });
      return out;
    },
  };
}

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'crossfold-dense-'));
