import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyze } from '../../src/retriever/analyze.ts';
import { bm25 } from '../../src/retriever/bm25.ts';
import type { Passage } from '../../src/types.ts';

const texts = (...all: readonly string[]): readonly Passage[] =>
  all.map((text, i) => ({ id: `p${i}`, source: `s${i}`, title: 'cover', text }));

const scores = async (passages: readonly Passage[], query: string, options = {}) =>
  (await bm25(passages, options).search([query], 10))[0]!.map((hit) => [hit.passage.id, hit.score] as const);

describe('analyze', () => {
  it.each([
    ["The Quill's 3rd map, 1.5 km", ['the', 'quill', 's', '3rd', 'map', '1', '5', 'km']],
    ['España SEÑOR ano\u0303', ['españa', 'señor', 'anõ']],
    ['東京 tower カフェ', ['東', '京', 'tower', 'カ', 'フ', 'ェ']],
    ['snake_case e-mail — “ok”', ['snake', 'case', 'e', 'mail', 'ok']],
    ['!?', []],
  ])('%s', (text, words) => {
    expect(analyze(text)).toEqual(words);
  });
});

describe('bm25', () => {
  // Two passages of 3 and 2 words, so the average is 2.5; k1 .9, b .4.
  const pair = texts('cat cat dog', 'dog bird');

  it('gives the scores worked by hand', async () => {
    // cat: ln 2 · 2 · 1.9 / (2 + .9 · 1.08)
    expect(await scores(pair, 'cat', { fields: 'text' })).toEqual([['p0', expect.closeTo(0.886258, 5)]]);
    // dog: ln 1.2 · 1.9 / (1 + .9 · .92) and ln 1.2 · 1.9 / (1 + .9 · 1.08)
    expect(await scores(pair, 'dog', { fields: 'text' })).toEqual([
      ['p1', expect.closeTo(0.189503, 5)],
      ['p0', expect.closeTo(0.175665, 5)],
    ]);
  });

  it('counts a repeated query word as often as it occurs', async () => {
    expect(await scores(pair, 'cat Cat', { fields: 'text' })).toEqual([['p0', expect.closeTo(1.772517, 5)]]);
  });

  it('indexes the chosen fields', async () => {
    expect((await scores(pair, 'cover', { fields: 'text' })).length).toBe(0);
    expect((await scores(pair, 'cover', { fields: 'title' })).map(([id]) => id)).toEqual(['p0', 'p1']);
    expect((await scores(pair, 'dog', { fields: 'title' })).length).toBe(0);
    expect((await scores(pair, 'cover bird')).map(([id]) => id)).toEqual(['p1', 'p0']);
  });

  it('never returns a passage without a word of the query', async () => {
    expect(await scores(texts('one', 'two', 'two three'), 'two four')).toHaveLength(2);
    expect(await bm25([]).search(['two'], 3)).toEqual([[]]);
    expect(await bm25(texts('', '!'), { fields: 'text' }).search(['two'], 3)).toEqual([[]]);
    expect(await bm25(pair).search(['dog'], 0)).toEqual([[]]);
  });

  it('ranks as a plain sum over the formula does', async () => {
    const word = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const sentence = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(
        fc.array(sentence, { minLength: 1, maxLength: 20 }),
        sentence,
        fc.integer({ min: 1, max: 25 }),
        async (all, query, k) => {
          const [hits] = await bm25(texts(...all), { fields: 'text' }).search([query], k);
          const expected = plain(all, query)
            .filter((score) => score > 0)
            .sort((a, b) => b - a);
          expect(hits).toHaveLength(Math.min(k, expected.length));
          hits!.forEach((hit, i) => {
            expect(hit.score).toBeCloseTo(expected[i]!, 4);
            const next = hits![i + 1];
            if (next?.score === hit.score)
              expect(Number(hit.passage.id.slice(1))).toBeLessThan(Number(next.passage.id.slice(1)));
          });
        },
      ),
    );
  });

  it('refuses impossible settings with the value', () => {
    expect(() => bm25(pair, { k1: -1 })).toThrow(/k1 is -1/);
    expect(() => bm25(pair, { k1: Number.NaN })).toThrow(/k1 is NaN/);
    expect(() => bm25(pair, { b: 1.5 })).toThrow(/b is 1.5/);
    expect(() => bm25(pair, { fields: 'toString' as 'text' })).toThrow(
      /fields is "toString"; expected one of title\+text, title, text/,
    );
  });

  it('names its settings in the fingerprint', () => {
    const prints = [bm25(pair), bm25(pair, { k1: 1.2 }), bm25(pair, { b: 0.75 }), bm25(pair, { fields: 'title' })];
    expect(new Set(prints.map((r) => r.fingerprint)).size).toBe(4);
    expect(bm25(pair).fingerprint).toMatch(
      /^bm25\(k1=0\.9,b=0\.4,fields=title\+text,analyzer=words-1,corpus=[0-9a-f]{16}\)$/,
    );
  });
});

/** Score of every text, straight from the formula. */
function plain(all: readonly string[], query: string): readonly number[] {
  const docs = all.map((text) => text.split(' ').filter(Boolean));
  const average = docs.flat().length / docs.length;
  return docs.map((doc) =>
    query.split(' ').reduce((sum, word) => {
      const f = doc.filter((w) => w === word).length;
      if (word === '' || f === 0) return sum;
      const n = docs.filter((d) => d.includes(word)).length;
      const idf = Math.log(1 + (docs.length - n + 0.5) / (n + 0.5));
      return sum + (idf * f * 1.9) / (f + 0.9 * (0.6 + (0.4 * doc.length) / average));
    }, 0),
  );
}
