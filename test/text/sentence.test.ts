import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstSentence, sentences } from '../../src/text/sentence.ts';

describe('sentences of a reply', () => {
  it.each<readonly string[]>([
    ['The film came out in 1994.', 'It was directed by Frank Darabont.'],
    ['Who wrote it?', 'Stephen King did!', 'So the answer is Stephen King.'],
    ['It ended in 1990.', '3 of them stayed.'],
    ['He asked "why?"', 'Nobody knew.'],
    ['(It was late.)', 'She left.'],
    ['The answer is no.', 'The two are unrelated.'],
    ['They waited ...', 'Nothing came.'],
    ['He lived in the U.S.', 'He died in 1950.'],
    ['It was Malcolm X.', 'He was born in Omaha.'],
    ['She works for Apple Inc.', 'The company is in Cupertino.'],
    ['It lies on Main St.', 'The house is white.'],
    ['He fought in World War I.', 'After that he wrote.'],
    ['Really?!', 'Yes.'],
    ['東京は首都です。', '人口が多い。'],
    ['First line', 'Second line'],
    ['1. The Oker is a river.', '2. The Aller is another.'],
    ['Its capital is Łódź.', 'Évora is elsewhere.'],
  ])('%s | %s', (...parts) => {
    const joint = parts[0]!.startsWith('東') ? '' : /line|^1\./.test(parts[0]!) ? '\n' : ' ';
    expect(sentences(parts.join(joint))).toEqual(parts);
  });

  it.each([
    'Dr. Smith met Mr. Jones and Mrs. Brown at St. Mary’s.',
    'The U.S. Army moved to Washington, D.C. Headquarters in 1942.',
    'J. R. R. Tolkien wrote it, e.g. The Hobbit, i.e. The book.',
    'George W. Bush met John F. Kennedy Jr. Smith in Mt. Vernon.',
    'It measures 3.5 km, or approx. 2 miles, at 5.30 p.m. Eastern.',
    'Gen. Robert E. Lee faced Maj. Gen. George Meade.',
    'Warner Bros. Pictures and Apple Inc. Products made it.',
    'It is No. 5 in vol. 3, pp. 12 and fig. 7 of the set.',
    'Born Jan. 5, 1950, she left on Sept. 12 of that year.',
    'See example.com or v2.0 for "Yahoo!" and more.',
    'Batman vs. The Joker was shown, etc. and so on.',
    'Who Framed Roger Rabbit? was shown there.',
    'She holds a Ph.D. Degree from there.',
    'Smith et al. Found it first.',
    'He met Dr. He Jiankui.',
    'The show ran on A.B.C. Television.',
  ])('is one: %s', (text) => {
    expect(sentences(text)).toEqual([text]);
  });

  it('gives the first, or nothing', () => {
    expect(firstSentence('  Dr. No is a film. It is old.')).toBe('Dr. No is a film.');
    expect(firstSentence('\n\n A thought without an end')).toBe('A thought without an end');
    expect(firstSentence(' \n ')).toBe('');
    expect(sentences('')).toEqual([]);
  });

  it('loses nothing but white space', () => {
    const part = fc.oneof(fc.constantFrom('Dr', 'U.S', '.', '!', ' ', '\n', '"', 'The', '3'), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join('');
        expect(sentences(text).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      }),
    );
  });

  it('reads long texts', () => {
    for (const text of ['a.'.repeat(200_000), '. '.repeat(100_000), 'A. '.repeat(100_000), '.'.repeat(200_000)]) {
      expect(sentences(text).join('').length).toBeGreaterThan(90_000);
    }
  });
});
