import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyze } from '../../src/retriever/analyze.ts';
import { passagesOf } from '../../src/retriever/corpus/passages.ts';

const cut = (text: string, words?: number) =>
  passagesOf({ id: 's', title: 'T', text }, words === undefined ? {} : { words }).map((p) => p.text);

const squeeze = (text: string): string => text.replace(/\s+/g, '');

describe('passagesOf', () => {
  it('leaves a short source whole, under its own id', () => {
    expect(passagesOf({ id: 's', title: 'T', text: ' One. Two.\n\nThree.\n' })).toEqual([
      { id: 's', source: 's', title: 'T', text: 'One. Two.\n\nThree.' },
    ]);
    expect(cut(' \n')).toEqual([]);
  });

  it('numbers the passages of a longer one from 1', () => {
    const passages = passagesOf({ id: 's', title: 'T', text: 'One two three. Four five six.' }, { words: 3 });
    expect(passages).toEqual([
      { id: 's#1', source: 's', title: 'T', text: 'One two three.' },
      { id: 's#2', source: 's', title: 'T', text: 'Four five six.' },
    ]);
  });

  it.each([
    [
      'paragraphs before sentences',
      'Aa bb cc dd.\n\nEe ff. Gg hh.\n\nIi jj kk ll.',
      5,
      ['Aa bb cc dd.', 'Ee ff. Gg hh.', 'Ii jj kk ll.'],
    ],
    ['sentences before lines', 'Aa bb\ncc dd. Ee ff\ngg hh.', 4, ['Aa bb\ncc dd.', 'Ee ff\ngg hh.']],
    ['lines before words', 'aa bb cc\ndd ee ff', 3, ['aa bb cc', 'dd ee ff']],
    ['words at last', 'aa bb cc dd ee ff', 3, ['aa bb cc', 'dd ee ff']],
    [
      'not after initials',
      'By J. Doe and Dr. No now. Then the next one came.',
      6,
      ['By J. Doe and Dr. No now.', 'Then the next one came.'],
    ],
    [
      'inside quotation marks',
      'He said “go on now.” She went to him.',
      5,
      ['He said “go on now.”', 'She went to him.'],
    ],
    ['headings with what follows', 'Aa bb cc.\n\n# Dd\n\nEe ff gg hh.', 5, ['Aa bb cc.', '# Dd\n\nEe ff gg hh.']],
    ['headings without a mark', 'Aa bb cc.\n\nDd ee\n\nFf gg hh ii.', 5, ['Aa bb cc.', 'Dd ee\n\nFf gg hh ii.']],
    ['a small rest stays', 'Aa bb cc dd. Ee ff gg hh. Ii.', 8, ['Aa bb cc dd. Ee ff gg hh. Ii.']],
    ['Japanese', '東京は首都。大阪は都市。', 6, ['東京は首都。', '大阪は都市。']],
  ])('cuts at %s', (_, text, words, expected) => {
    expect(cut(text, words)).toEqual(expected);
  });

  it('cuts an endless word', () => {
    const passages = cut('x'.repeat(100_000), 100);
    expect(passages.length).toBeGreaterThan(50);
    expect(Math.max(...passages.map((text) => text.length))).toBeLessThanOrEqual(1800);
  });

  it('keeps every character, in order, and no passage is longer than 1.5 times the aim', () => {
    const piece = fc.oneof(
      fc.constantFrom(' ', '. ', '\n', '\n\n', '\r\n\r\n', '# ', '。', '😀', 'é', '東', '!'),
      fc.string({ unit: 'grapheme', maxLength: 15 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 200 }).map((all) => all.join('')),
        fc.integer({ min: 1, max: 30 }),
        (text, words) => {
          const passages = cut(text, words);
          expect(squeeze(passages.join(''))).toBe(squeeze(text));
          for (const passage of passages) {
            expect(passage.trim()).not.toBe('');
            expect(analyze(passage).length).toBeLessThanOrEqual(Math.max(1.5 * words, 1));
          }
        },
      ),
    );
  });

  it('keeps a source of up to one and a half times the aim whole, and every source where nothing is cut', () => {
    const words = (n: number): string => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');
    expect(cut(words(150)).length).toBe(1);
    expect(cut(words(151)).length).toBe(2);
    expect(cut(words(5000), 0)).toEqual([words(5000)]);
  });

  it('makes passages of about equal length', () => {
    const sentence = 'The old mill by the river grinds no corn. ';
    const lengths = cut(sentence.repeat(20)).map((text) => analyze(text).length);
    // 180 words: two of 90, not 117 and 63.
    expect(lengths).toEqual([90, 90]);
  });

  it('refuses an aim below one word', () => {
    expect(() => cut('a', 0.5)).toThrow(RangeError);
  });
});
