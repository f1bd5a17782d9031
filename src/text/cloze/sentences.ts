/** Sentence borders in English running text. */

const titles = 'Mr Mrs Ms Dr St Prof Rev Hon Gen Col Lt Capt Sgt Sen Rep Gov Jr Sr';
const months = 'Jan Feb Mar Apr Jun Jul Aug Sept Oct Nov Dec';
const others = 'No Vol Fig Inc Ltd Co Corp vs etc ca approx c b d fl e\\.g i\\.e cf al';
const abbreviations = `${titles} ${months} ${others}`.replaceAll(' ', '|');

/**
 * White space after the end mark of a word, number or bracket (a lone capital is an initial, and the abbreviations above
 * end nothing) and before something that can begin a sentence.
 */
const border = new RegExp(
  `(?<=[\\p{Ll}\\p{N})"\\]'\`][.!?]["')\\]]?)(?<!(?<![\\p{L}\\p{N}])(?:${abbreviations})\\.)\\s+(?=[\\p{Lu}\\p{N}"'(\`*])`,
  'u',
);

/** The sentences of a paragraph, in order; together with the white space between them they are the paragraph. */
export const sentencesOf = (paragraph: string): readonly string[] => paragraph.split(border);
