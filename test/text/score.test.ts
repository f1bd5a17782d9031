import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDate } from '../../src/text/dates.ts';
import { normalize, normalizeUnguarded } from '../../src/text/normalize.ts';
import { diagnose, readGold, score } from '../../src/text/score.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.constantFrom('a', 'The', 'an', 'Oslo', 'oslo.', 'España', '1,234', '–', '?', ' ', 'x_y', 'É'), {
      maxLength: 8,
    })
    .map((parts) => parts.join(' ')),
);

describe('normalize', () => {
  test.each([
    ['The  Great\tWall', 'great wall'],
    ['A.B.C.', 'abc'],
    ['España', 'españa'],
    ['España'.normalize('NFD'), 'españa'.normalize('NFD')],
    ['Théa and the sea', 'théa and sea'],
    ['an-other', 'another'],
    ['The The', 'the the'],
    ['A', 'a'],
    ['the "a"', 'the a'],
    ['?!', ''],
    ['  ', ''],
    ['naïve–a', 'naïve–'],
    ['x_a', 'xa'],
  ])('%j becomes %j', (text, expected) => {
    expect(normalize(text)).toBe(expected);
  });

  test('the published form without the guard empties articles', () => {
    expect(normalizeUnguarded('The The')).toBe('');
    expect(normalizeUnguarded('The Wall')).toBe('wall');
  });

  test('is idempotent, without ASCII punctuation and without outer or double spaces', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = normalize(text);
        expect(normalize(once)).toBe(once);
        expect(once).not.toMatch(/[!-/:-@[-`{-~]|^\s|\s$|\s\s/);
      }),
    );
  });
});

describe('score', () => {
  test('F1 is the harmonic mean of precision and recall over words, best alias', () => {
    // 2 of 3 words said, 2 of 2 gold words: P = 2/3, R = 1.
    expect(score('Iva Maria Brandt', ['Iva Brandt']).f1).toBeCloseTo(0.8, 12);
    expect(score('Iva Iva Brandt', ['Iva Maria', 'Brandt']).f1).toBeCloseTo(0.5, 12);
    expect(score('Oslo', ['Bergen']).f1).toBe(0);
  });

  test('cover needs an alias inside the prediction, never the other way round', () => {
    expect(score('the city of Oslo', ['Oslo']).coverEm).toBe(1);
    expect(score('Oslo', ['the city of Oslo']).coverEm).toBe(0);
  });

  test('an alias without words never matches', () => {
    expect(score('anything', ['?!', ''])).toEqual({ em: 0, coverEm: 0, coverEmToken: 0, f1: 0 });
    expect(score('?!', ['?!'])).toEqual({ em: 0, coverEm: 0, coverEmToken: 0, f1: 0 });
  });

  test('EM ≤ F1, EM ≤ whole-token cover ≤ cover, more aliases never hurt, empty predictions score 0', () => {
    fc.assert(
      fc.property(anyText, fc.array(anyText, { maxLength: 4 }), anyText, (said, golds, extra) => {
        const s = score(said, golds);
        const more = score(said, [extra, ...golds]);
        expect(s.em).toBeLessThanOrEqual(s.f1);
        expect(s.em).toBeLessThanOrEqual(s.coverEmToken);
        expect(s.coverEmToken).toBeLessThanOrEqual(s.coverEm);
        for (const key of ['em', 'coverEm', 'coverEmToken', 'f1'] as const) {
          expect(more[key]).toBeGreaterThanOrEqual(s[key]);
        }
        expect(score(' ', golds)).toEqual({ em: 0, coverEm: 0, coverEmToken: 0, f1: 0 });
        expect(score(said, [said]).em).toBe(normalize(said) === '' ? 0 : 1);
        diagnose(said, golds);
      }),
    );
  });
});

describe('gold', () => {
  test('a list, a bare string and JSON text', () => {
    expect(readGold(['a', 'b'])).toEqual({ aliases: ['a', 'b'], warning: null });
    expect(readGold('Paris')).toEqual({ aliases: ['Paris'], warning: null });
    expect(readGold(' ["Paris"]')).toEqual({ aliases: ['Paris'], warning: 'gold_was_json_text' });
  });

  test.each(['[1]', '[]', '[Paris]', '["Paris"', '{"a": "b"}'])('%s is an ordinary answer', (text) => {
    expect(readGold(text)).toEqual({ aliases: [text], warning: null });
  });
});

describe('dates', () => {
  test.each([
    ['4 July 1776', '1776-7-4'],
    ['July 4, 1776', '1776-7-4'],
    ['the 4th of July 1776', null],
    ['4th of July, 1776', '1776-7-4'],
    ['Sept. 9, 1999', '1999-9-9'],
    ['1776-07-04', '1776-7-4'],
    ['29 February 2000', '2000-2-29'],
    ['29 February 1900', null],
    ['31 June 1999', null],
    ['July 1776', null],
    ['Marching 4 1999', null],
  ])('%s → %s', (text, expected) => {
    expect(readDate(text)).toBe(expected);
  });
});
