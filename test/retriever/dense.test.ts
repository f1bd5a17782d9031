import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildDense } from '../../src/retriever/dense/build.ts';
import { exactTop } from '../../src/retriever/dense/exact.ts';
import { openDense } from '../../src/retriever/dense/open.ts';
import { findUsearch } from '../../src/retriever/dense/usearch.ts';
import type { Ranked } from '../../src/retriever.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { madeUpRows, newFolder, storeOf, tableEncoder } from './dense-fixture.ts';

const usearch = findUsearch();
if (usearch === null) console.log('skipped in part: usearch is not installed');

let dir = '';
beforeEach(async () => {
  dir = await newFolder();
});
afterEach(() => rm(dir, { recursive: true }));

const DIMENSION = 24;

/** Straight from the definition: all scores sorted, ties by place. */
function bruteForce(rows: Float32Array, dimension: number, query: Float32Array, k: number): Ranked[] {
  const all = Array.from({ length: rows.length / dimension }, (_, at) => {
    let score = 0;
    for (let j = 0; j < dimension; j++) score += rows[at * dimension + j]! * query[j]!;
    return { at, score };
  });
  return all.sort((a, b) => b.score - a.score || a.at - b.at).slice(0, k);
}

describe('exact search', () => {
  it('finds what the definition says, with native code and without it', async () => {
    const rows = madeUpRows(1500, DIMENSION, 'exact');
    const encoder = tableEncoder(rows, DIMENSION);
    const manifest = await buildDense({ dir, passages: storeOf(1500), encoder, ann: false, corpus: 'c' });
    expect(manifest).toMatchObject({ kind: 'exact', rows: 1500, dimension: 24, normalised: true, corpus: 'c' });
    const queries = ['3', '700', '1499'];
    for (const kernel of [null, usearch]) {
      const ranker = await openDense({ dir, manifest, encoder, usearch: kernel });
      for (const k of [1, 10, 2000]) {
        const expected = queries.map((q) =>
          bruteForce(rows, DIMENSION, rows.slice(Number(q) * DIMENSION, (Number(q) + 1) * DIMENSION), k),
        );
        expect(await ranker.rank(queries, k)).toEqual(expected);
      }
    }
  });

  it('ties to the earlier place, even where a tie runs past the end of the list', async () => {
    // Components −1, 0, 1 in two dimensions: nearly everything ties.
    const vector = fc.constantFrom([1, 0], [0, 1], [-1, 0], [0, -1], [0.6, 0.8]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(vector, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 3 }),
        fc.array(vector, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 12 }),
        async (tiles, asked, k) => {
          const matrix = { tiles: tiles.map((tile) => Float32Array.from(tile.flat())), dimension: 2 };
          const rows = Float32Array.from(tiles.flat(2));
          const queries = Float32Array.from(asked.flat());
          const expected = asked.map((query) => bruteForce(rows, 2, Float32Array.from(query), k));
          expect(await exactTop(matrix, queries, k, null)).toEqual(expected);
          if (usearch !== null) expect(await exactTop(matrix, queries, k, usearch)).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('gives a blank query no hits and leaves it out of the request', async () => {
    const encoder = tableEncoder(madeUpRows(10, DIMENSION, 'blank'), DIMENSION);
    const manifest = await buildDense({ dir, passages: storeOf(10), encoder, ann: false, corpus: 'c' });
    const ranker = await openDense({ dir, manifest, encoder });
    encoder.seen.length = 0;
    const found = await ranker.rank([' ', '4', '', '2\n'], 1);
    expect(found.map((hits) => hits.map((hit) => hit.at))).toEqual([[], [4], [], [2]]);
    expect(encoder.seen).toEqual(['4', '2']);
    await expect(ranker.rank(['4'], 1.5)).rejects.toThrow(RangeError);
  });
});

describe('an interrupted build', () => {
  const SIZE = 700; // Blocks of 256, 256 and 188 rows.
  const rows = madeUpRows(SIZE, DIMENSION, 'resume');
  const build = (encoder = tableEncoder(rows, DIMENSION), corpus = 'c') =>
    buildDense({ dir, passages: storeOf(SIZE), encoder, ann: false, corpus });
  const file = () => join(dir, 'vectors.f32');

  it('keeps the whole blocks of a torn file and encodes the rest', async () => {
    const whole = await build();
    const bytes = await readFile(file());
    await truncate(file(), 600 * DIMENSION * 4 + 3); // Inside the third block.
    const encoder = tableEncoder(rows, DIMENSION);
    const ticks: number[] = [];
    const again = await buildDense({
      dir,
      passages: storeOf(SIZE),
      encoder,
      ann: false,
      corpus: 'c',
      progress: (done) => ticks.push(done),
    });
    expect(encoder.seen).toEqual(Array.from({ length: 188 }, (_, i) => String(512 + i)));
    expect(ticks).toEqual([512, 700]);
    expect(again).toEqual(whole);
    expect(await readFile(file())).toEqual(bytes);
  });

  it('goes on after the encoder failed', async () => {
    const encoder = tableEncoder(rows, DIMENSION);
    let calls = 0;
    const failing = {
      ...encoder,
      embed: (texts: readonly string[], as: 'query' | 'passage') =>
        ++calls === 2 ? Promise.reject(new InfraError('down')) : encoder.embed(texts, as),
    };
    await expect(build(failing)).rejects.toThrow('down');
    const again = tableEncoder(rows, DIMENSION);
    await build(again);
    expect(again.seen.length).toBe(444);
  });

  it.each([
    ['a changed byte in the second block', 256, () => writeAt(300 * DIMENSION * 4, Buffer.from([0xff]))],
    ['rows behind the listed ones', 700, () => appendFile(file(), Buffer.alloc(4 * DIMENSION))],
    ['half a line in the list', 700, () => appendFile(join(dir, 'vectors.jsonl'), '{"rows":25')],
    ['a list that is gone', 0, () => rm(join(dir, 'vectors.jsonl'))],
    ['vectors that are gone', 0, () => rm(file())],
  ])('after %s keeps %d rows', async (_, kept, harm) => {
    const whole = await build();
    await harm();
    const again = tableEncoder(rows, DIMENSION);
    expect(await build(again)).toEqual(whole);
    expect(again.seen.length).toBe(SIZE - kept);
  });
  const writeAt = async (at: number, bytes: Buffer): Promise<void> => {
    const all = await readFile(file());
    bytes.copy(all, at);
    await writeFile(file(), all);
  };

  it('keeps nothing of another corpus or encoder', async () => {
    await build();
    const other = tableEncoder(rows, DIMENSION, 'other');
    await build(other);
    expect(other.seen.length).toBe(SIZE);
    const changed = tableEncoder(rows, DIMENSION, 'other');
    await build(changed, 'd');
    expect(changed.seen.length).toBe(SIZE);
  });

  it('does not open vectors that are not those of the manifest', async () => {
    const encoder = tableEncoder(rows, DIMENSION);
    const manifest = await build(encoder);
    await truncate(file(), 100);
    await expect(openDense({ dir, manifest, encoder })).rejects.toThrow(/has 100 bytes; 700 rows of 24 take 67200/);
  });
});

describe.skipIf(usearch === null)('approximate search', () => {
  it('recalls at least .995 of the exact top 3 of 3,000 vectors, the same in every build', async () => {
    const [size, dimension] = [3000, 48];
    const rows = madeUpRows(size, dimension, 'graph');
    const encoder = tableEncoder(rows, dimension);
    const phases = new Set<string>();
    const passages = storeOf(size);
    const manifest = await buildDense({
      dir,
      passages,
      encoder,
      ann: true,
      corpus: 'c',
      progress: (_done, _total, phase) => phases.add(phase),
    });
    expect([...phases]).toEqual(['encoding', 'graph']);
    expect(manifest).toMatchObject({
      kind: 'hnsw-f16',
      parameters: { connectivity: 32, expansionAdd: 256, expansionSearch: 512 },
      usearch: '2.25.3',
    });
    const near = await openDense({ dir, manifest, encoder });
    const { parameters: _p, usearch: _u, bytes: _b, ...common } = manifest as typeof manifest & { kind: 'hnsw-f16' };
    const exact = await openDense({ dir, manifest: { ...common, kind: 'exact' }, encoder });
    const queries = Array.from({ length: 300 }, (_, i) => String(i * 10));
    const [got, wanted] = [await near.rank(queries, 3), await exact.rank(queries, 3)];
    const found = wanted.flatMap((hits, q) => hits.filter((hit) => got[q]!.some(({ at }) => at === hit.at)));
    expect(found.length / 900).toBeGreaterThanOrEqual(0.995);
    expect(await near.rank(['10'], 3)).toEqual([got[1]]);
    expect(got[1]).toEqual((await near.rank(['10'], 40))[0]!.slice(0, 3));
    expect((await near.rank(['10'], 600))[0]!.length).toBe(600);

    const bytes = await readFile(join(dir, 'vectors.hnsw'));
    expect(await buildDense({ dir, passages, encoder, ann: true, corpus: 'c' })).toEqual(manifest);
    expect((await readFile(join(dir, 'vectors.hnsw'))).equals(bytes)).toBe(true);

    await truncate(join(dir, 'vectors.hnsw'), bytes.length - 1);
    await expect(openDense({ dir, manifest, encoder })).rejects.toThrow(UserError);
    await expect(openDense({ dir, manifest, encoder, usearch: null })).rejects.toThrow(UserError);
  });
});
