/**
 * The SQuAD answer normaliser (method.md section 2): lower-case, delete ASCII punctuation, drop the whole words a, an,
 * the, collapse whitespace. [ours] Word boundaries are Unicode-aware (`\b` in JavaScript is ASCII-only and would turn
 * "España" into "españ"), and a text that dropping articles would empty keeps them ("The The", "A").
 */

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g;
const UNICODE_PUNCTUATION = /[\p{P}\p{S}]/gu;
/** Combining marks belong to the word, so that a decomposed "españa" is one word too. */
const ARTICLE = /(?<![\p{L}\p{N}\p{M}_])(?:a|an|the)(?![\p{L}\p{N}\p{M}_])/gu;

const collapse = (text: string): string => text.trim().replace(/\s+/g, ' ');
const dropArticles = (text: string): string => collapse(text.replace(ARTICLE, ' '));
const guarded = (text: string): string => dropArticles(text) || collapse(text);

const bare = (text: string): string => text.toLowerCase().replace(ASCII_PUNCTUATION, '');

/** The normaliser used for every score and for the exact and cover matchers. */
export const normalize = (text: string): string => guarded(bare(text));

/** The published normaliser without the guard: "A" and "The The" become empty. For diagnostics only. */
export const normalizeUnguarded = (text: string): string => dropArticles(bare(text));

/** Compatibility forms folded and all Unicode punctuation deleted: "1939–1945" equals "1939-1945". For diagnostics only. */
export const normalizeUnicode = (text: string): string =>
  guarded(text.normalize('NFKC').toLowerCase().replace(UNICODE_PUNCTUATION, ''));

/** Whitespace-separated words of a normalised text; none for an empty one. */
export const words = (normalized: string): readonly string[] => (normalized === '' ? [] : normalized.split(' '));
