import { describe, expect, it } from 'vitest';
import { bm25 } from '../../src/retriever/bm25.ts';
import type { Retriever } from '../../src/retriever.ts';
import { noisy } from '../../src/world/noisy.ts';
import { worldRetriever } from '../../src/world/search.ts';
import { generateWorld } from '../../src/world/world.ts';
import { tinyWorld } from './tiny.ts';

const titles = async (retriever: Retriever, query: string, k: number) =>
  (await retriever.search([query], k))[0]!.map((hit) => hit.passage.title);

describe('direct title search', () => {
  it('finds the page of the name, then its namesakes', async () => {
    const found = await titles(worldRetriever(tinyWorld()), 'Mara Voss', 2);
    expect(found).toEqual(['Mara Voss', 'Mara Hale']);
    const unknown = await titles(worldRetriever(tinyWorld()), 'Mara Dale', 2);
    expect(unknown.sort()).toEqual(['Mara Hale', 'Mara Voss']);
  });
  it('always shows k pages, whatever is asked', async () => {
    for (const query of ['', 'nonsense', '~ ?', 'Mara']) {
      const found = await titles(worldRetriever(generateWorld({ seed: 2 })), query, 3);
      expect(new Set(found).size).toBe(3);
    }
  });
});

/** Shares of queries whose right page is first, second and missing. */
async function fates(make: (world: ReturnType<typeof generateWorld>) => Retriever, count: number) {
  const shares = [0, 0, 0];
  let n = 0;
  for (let seed = 0; n < count; seed++) {
    const world = generateWorld({ seed });
    const retriever = make(world);
    for (const { name } of world.entities) {
      const at = (await titles(retriever, name, 2)).indexOf(name);
      shares[at < 0 ? 2 : at]!++;
      n++;
    }
  }
  return shares.map((x) => x / n);
}

describe('retrieval noise', () => {
  it.each([
    ['direct search', worldRetriever],
    [
      'BM25 over titles',
      (world: ReturnType<typeof generateWorld>) => noisy(bm25(world.passages, { fields: 'title' }), world),
    ],
  ])('over %s keeps 72.75 % first, drops 3 % and puts the rest second', async (_, make) => {
    const [first, second, missing] = await fates(make, 7200);
    expect(Math.abs(first! - 0.97 * 0.75)).toBeLessThan(0.02);
    expect(Math.abs(second! - 0.97 * 0.25)).toBeLessThan(0.02);
    expect(Math.abs(missing! - 0.03)).toBeLessThan(0.01);
  });
  it('is the same for the same query and off when the options say so', async () => {
    const world = generateWorld({ seed: 4 });
    const name = world.entities[0]!.name;
    expect(await titles(worldRetriever(world), name, 5)).toEqual(await titles(worldRetriever(world), name, 5));
    const quiet = generateWorld({ seed: 4, firstRank: 1, miss: 0 });
    for (const e of quiet.entities) expect((await titles(worldRetriever(quiet), e.name, 1))[0]).toBe(e.name);
  });
});
