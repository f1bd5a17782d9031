import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse } from '../../src/retriever/fuse.ts';
import type { Ranker } from '../../src/retriever.ts';

/** Lists the places as given, whatever the query. */
const fixed = (name: string, ...places: readonly number[]): Ranker => ({
  fingerprint: name,
  rank: async (queries, k) => queries.map(() => places.slice(0, k).map((at, i) => ({ at, score: 100 - i }))),
});
const top = async (ranker: Ranker, k: number) => (await ranker.rank(['q'], k))[0]!;

describe('reciprocal-rank fusion', () => {
  it('adds 1 / (60 + rank), worked by hand', async () => {
    const hits = await top(fuse([fixed('a', 7, 3, 9), fixed('b', 3, 5, 7)]), 10);
    // 3: 1/62 + 1/61; 7: 1/61 + 1/63; 5: 1/62; 9: 1/63.
    expect(hits.map((hit) => hit.at)).toEqual([3, 7, 5, 9]);
    expect(hits[0]!.score).toBeCloseTo(0.0325225, 7);
    expect(hits[1]!.score).toBeCloseTo(0.0322665, 7);
    expect(hits[2]!.score).toBeCloseTo(0.016129, 7);
    expect(hits[3]!.score).toBeCloseTo(0.015873, 7);
  });

  it('breaks ties by place, and equal ranks tie exactly whoever gave them', async () => {
    const hits = await top(fuse([fixed('a', 8, 1, 4), fixed('b', 4, 8, 1), fixed('c', 1, 4, 8)]), 3);
    expect(hits.map((hit) => hit.at)).toEqual([1, 4, 8]);
    expect(new Set(hits.map((hit) => hit.score)).size).toBe(1);
  });

  it('has settings', async () => {
    const hits = await top(fuse([fixed('a', 1, 2, 3), fixed('b', 3, 9)], { k: 1, depth: 2 }), 2);
    // Depth 2 hides that the first ranker has 3 as well: 1 and 3 have 1/2 each, 2 and 9 have 1/3.
    expect(hits).toEqual([
      { at: 1, score: 0.5 },
      { at: 3, score: 0.5 },
    ]);
    expect(fuse([fixed('a'), fixed('b')]).fingerprint).toBe('rrf(k=60,depth=100,a,b)');
  });

  it('gives a smaller k the head of a larger one, and never a place twice', async () => {
    const list = fc.uniqueArray(fc.nat(50), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 4 }), fc.nat(40), async (lists, k) => {
        const ranker = fuse(lists.map((places, i) => fixed(`${i}`, ...places)));
        const all = await top(ranker, 100);
        expect(await top(ranker, k)).toEqual(all.slice(0, k));
        expect(new Set(all.map((hit) => hit.at))).toEqual(new Set(lists.flat()));
        expect(all.length).toBe(new Set(lists.flat()).size);
      }),
    );
  });

  it('passes an outage on', async () => {
    const broken: Ranker = { fingerprint: 'x', rank: () => Promise.reject(new Error('down')) };
    await expect(top(fuse([fixed('a', 1), broken]), 3)).rejects.toThrow('down');
  });
});
