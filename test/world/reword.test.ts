import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rng } from '../../src/util/rng.ts';
import { factOf, pickWording, sampleChain, truth, writeQuestion } from '../../src/world/question.ts';
import { reword } from '../../src/world/reword.ts';
import { generateWorld } from '../../src/world/world.ts';
import { tinyWorld } from './tiny.ts';

const world = generateWorld({ seed: 11 });

describe('rewording a question', () => {
  it('keeps what is asked, begins with the question as it stands, and never writes a text twice', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(1, 2, 3, 4), fc.integer({ min: 1, max: 100 }), (draw, hops, n) => {
        const r = rng('reword test', draw);
        const { path, relations } = sampleChain(world, r, hops as 1 | 2 | 3 | 4);
        const words = relations.map((relation) => pickWording(world, r, relation));
        const text = writeQuestion(world.entities[path[0]!]!.name, words);
        const texts = reword(world, text, n, `${draw}`)!;
        expect(texts[0]).toBe(text);
        // Three wordings a relation.
        expect(texts).toHaveLength(Math.min(n, 3 ** hops));
        expect(new Set(texts).size).toBe(texts.length);
        for (const other of texts) {
          expect(truth(world, other)).toBe(world.entities[path.at(-1)!]!.name);
          expect(factOf(other)).toBe(factOf(text));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is drawn by the key, and more wordings begin with the fewer', () => {
    const text = 'tutor of partner of creator of Brask Mills ?';
    const [a, b] = ['a', 'b'].map((key) => reword(world, text, 9, key)!);
    expect(reword(world, text, 9, 'a')).toEqual(a);
    expect(b).not.toEqual(a);
    expect(reword(world, text, 4, 'a')).toEqual(a!.slice(0, 4));
  });

  it('uses the words of its world, keeps an odd one that the question has, and does not mind blanks', () => {
    const { options, ...rest } = tinyWorld();
    const two = { ...rest, options: { ...options, wordings: 2 } };
    const sorted = (text: string) => [...reword(two, text, 9, 'k')!].sort();
    expect(sorted('creator of Brask Mills ?')).toEqual(['creator of Brask Mills ?', 'founder of Brask Mills ?']);
    expect(sorted('originator of Brask Mills ?')).toEqual([
      'creator of Brask Mills ?',
      'founder of Brask Mills ?',
      'originator of Brask Mills ?',
    ]);
    expect(reword(two, ' creator  of Brask Mills', 9, 'k')).toEqual([
      ' creator  of Brask Mills',
      'founder of Brask Mills ?',
    ]);
  });

  it.each(['Brask Mills ?', 'uncle of Brask Mills ?', 'who founded Brask Mills ?', ''])('is null for "%s"', (text) => {
    expect(reword(world, text, 3, 'k')).toBeNull();
    expect(factOf(text)).toBeNull();
  });
});

describe('the fact of a question', () => {
  it.each([
    ['teacher of originator of Brask Mills ?', 'mentor of founder of Brask Mills ?'],
    ['mentor of founder of Brask Mills', 'mentor of founder of Brask Mills ?'],
    ['founder of Brask Mills ?', 'founder of Brask Mills ?'],
  ])('%s → %s', (text, fact) => expect(factOf(text)).toBe(fact));
});
