/** Cuts a source into passages of about so many words, at the strongest border there is: paragraph, sentence, line, word. */
import type { Passage, Source } from '../../types.ts';
import { analyze } from '../analyze.ts';

/** Characters a word of ordinary text rarely exceeds; text without spaces (an encoded image) counts by them. */
const longWord = 12;

/** A source up to this many times the aim stays whole: published corpora are cut already. */
const stretch = 1.5;

interface Unit {
  readonly start: number;
  readonly end: number;
  readonly words: number;
}

/** Borders from strong to weak. A unit starts where a match ends. */
const borders: readonly RegExp[] = [
  /\r?\n[ \t]*\r?\n\s*/g,
  // Not after an initial or a common abbreviation.
  /(?<=[.!?…]["'”’)\]]{0,3})(?<!(?:^|[\s(])(?:\p{Lu}|Mrs?|Ms|Dr|St|Jr|Sr|No|vs|etc)\.)\s+(?=["'“‘([]{0,3}[\p{Lu}\p{Lo}\p{N}])|(?<=[。！？])/gu,
  /\n/g,
  /\s+/g,
];

/**
 * Passages in order; together they are the whole text but for the white space between them. None has more than 1.5 × `words`
 * words, and they are about equally long. A source that is one passage gives it its id; otherwise ids are "<source>#1",
 * "<source>#2" and so on. With `words` 0 every source is one passage.
 */
export function passagesOf(source: Source, { words = 100 }: { readonly words?: number } = {}): readonly Passage[] {
  if (!(words === 0 || words >= 1)) throw new RangeError(`passagesOf: words is ${words}; expected 0 or at least 1`);
  const { id, title, text } = source;
  const chunks = chunksOf(text, words);
  return chunks.map(({ start, end }, i) => ({
    id: chunks.length === 1 ? id : `${id}#${i + 1}`,
    source: id,
    title,
    text: text.slice(start, end).trim(),
  }));
}

function chunksOf(text: string, words: number): readonly Pick<Unit, 'start' | 'end'>[] {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  const whole = { start: 0, end: text.length };
  // A word has a character at least.
  if (words === 0 || trimmed.length <= stretch * words) return [whole];
  const size = sizeOf(trimmed);
  if (size <= stretch * words) return [whole];
  const even = size / Math.round(size / words);
  return pack(text, units(text, 0, text.length, words, 0), words, even);
}

const sizeOf = (text: string): number => Math.max(analyze(text).length, Math.ceil(text.length / longWord));

/** Pieces of text[start, end), paragraphs of at most `words` words or sentences of half as many more; only what is larger is cut at a weaker border. */
function units(text: string, start: number, end: number, words: number, strength: number): readonly Unit[] {
  const piece = text.slice(start, end);
  if (piece.trim() === '') return [];
  const size = sizeOf(piece.trim());
  if (size <= (strength < 2 ? words : stretch * words)) return [{ start, end, words: size }];
  const border = borders[strength];
  const cuts =
    border === undefined ? everyFew(piece, words) : [...piece.matchAll(border)].map((m) => m.index + m[0].length);
  return [0, ...cuts].flatMap((from, i) =>
    units(text, start + from, start + (cuts[i] ?? piece.length), words, strength + 1),
  );
}

/** Last resort: `step` characters at a time, never through a surrogate pair. */
function everyFew(piece: string, step: number): readonly number[] {
  const cuts: number[] = [];
  for (let at = step; at < piece.length; at += step) cuts.push(/[\uDC00-\uDFFF]/.test(piece[at]!) ? at + 1 : at);
  return cuts;
}

/** Joins neighbours to about `aim` words, below or above as is nearer; a heading opens a passage, and a small rest joins the passage before it. */
function pack(text: string, pieces: readonly Unit[], words: number, aim: number): readonly Unit[] {
  const fits = (last: Unit, piece: Unit): boolean =>
    last.words + piece.words <= stretch * words &&
    (last.words < words / 2 || (!isHeading(text, piece) && last.words + piece.words / 2 <= aim));
  const chunks: Unit[] = [];
  for (const piece of pieces) {
    const last = chunks.at(-1);
    if (last !== undefined && fits(last, piece)) chunks[chunks.length - 1] = join(last, piece);
    else chunks.push(piece);
  }
  const [before, rest] = chunks.slice(-2);
  return before !== undefined &&
    rest !== undefined &&
    rest.words < words / 4 &&
    before.words + rest.words <= stretch * words
    ? [...chunks.slice(0, -2), join(before, rest)]
    : chunks;
}

/** A `#` line, or a short paragraph of one line that ends without a stop, before a blank line. */
function isHeading(text: string, { start, end, words }: Unit): boolean {
  const piece = text.slice(start, Math.min(end, start + 200));
  return (
    piece.startsWith('#') || (words <= 10 && /^[\p{Lu}\p{N}][^\n]*[^\n.!?…:;,。！？]\s*\n[ \t]*\r?\n/u.test(piece))
  );
}

const join = (a: Unit, b: Unit): Unit => ({ start: a.start, end: b.end, words: a.words + b.words });
