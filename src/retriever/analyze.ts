/**
 * The words of the index: lower-cased runs of Unicode letters, marks and digits; no stemming, no stop words.
 * Chinese and Japanese are written without spaces, so each of their characters is a word.
 * Changing anything here changes results: raise `analyzer`, which is part of every fingerprint.
 */
export const analyzer = 'words-1';

const asciiWord = /[a-z0-9]+/g;
const spaceless = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}';
/** Matches each word of a text, before it is lower-cased. */
export const word = new RegExp(`[${spaceless}]|(?:(?![${spaceless}])[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const beyondAscii = /[^ -~\s]/;

/** Words in order of appearance. Composed and decomposed accents give the same word. */
export function analyze(text: string): readonly string[] {
  const lower = text.toLowerCase();
  return (beyondAscii.test(lower) ? lower.normalize('NFC').match(word) : lower.match(asciiWord)) ?? [];
}
