/**
 * Sentences of what a model writes. A full stop that belongs to a word ends nothing: abbreviations, initials, decimals,
 * list numbers, names of sites. One scan, linear in the text. (cloze/sentences cuts documents, for the reader's training.)
 */

/** Stand before a name or an example: never the end of a sentence. */
const OPENING = words(
  'mr mrs ms mx dr prof rev hon gen col maj lt capt cmdr adm sgt cpl pvt sen rep gov pres amb fr supt insp messrs mme mlle mt ft',
  'vs e.g i.e cf viz ca approx esp incl',
);
/** Can end a sentence: one that goes on with a word of STARTERS. */
const CLOSING = words(
  'st jr sr inc co corp ltd llc bros dept univ assn ave blvd rd etc al jan feb mar apr jun jul aug sep sept oct nov dec',
);
/** Abbreviations before a number, words elsewhere. */
const NUMBERED = words('no nos vol vols fig figs eq sec ch pp art pt op');
const STARTERS = words(
  'the he she it they we in however so therefore thus this that these those but and his her its their hence as on after',
  'since although when while then now also both',
);

const ENDS = '.!?';
/** End a sentence whatever follows. */
const WIDE_ENDS = '。！？';
const CLOSERS = `"'’”)]»`;
const OPENERS = /^["'‘“([«]+/u;
const DOTTED = /^\p{L}{1,2}(?:\.\p{L}{1,2})+$/u;
const LOWER = /^\p{Ll}/u;

function words(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(' ').split(' '));
}

/** Trimmed and not empty, in order. A line break ends a sentence too. */
export function sentences(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const out: string[] = [];
    let from = 0;
    for (let at = 0; at < line.length; at++) {
      if (!ENDS.includes(line[at]!) && !WIDE_ENDS.includes(line[at]!)) continue;
      const mark = at;
      while (at + 1 < line.length && (ENDS + WIDE_ENDS + CLOSERS).includes(line[at + 1]!)) at++;
      if (!isBorder(line, from, mark, at + 1)) continue;
      out.push(line.slice(from, at + 1));
      from = at + 1;
    }
    return [...out, line.slice(from)].map((sentence) => sentence.trim()).filter((sentence) => sentence !== '');
  });
}

export const firstSentence = (text: string): string => sentences(text)[0] ?? '';

/** `mark` is the first end mark, `next` the place after the marks and what they close, `from` where the sentence began. */
function isBorder(line: string, from: number, mark: number, next: number): boolean {
  if (WIDE_ENDS.includes(line[mark]!)) return true;
  if (next < line.length && !/\s/.test(line[next]!)) return false;
  const rest = line.slice(next, next + 80).trimStart();
  if (rest === '' || LOWER.test(rest)) return false;
  return line[mark] !== '.' || !belongsToWord(line.slice(from, mark), rest);
}

/** Is the full stop after `before` a part of its last word? */
function belongsToWord(before: string, rest: string): boolean {
  const last = /\S*$/.exec(before.slice(-40))![0].replace(OPENERS, '');
  const word = last.toLowerCase();
  if (/^\p{N}+$/u.test(word)) return before.length < 40 && before.trim() === last;
  if (OPENING.has(word)) return true;
  if (NUMBERED.has(word)) return /^\p{N}/u.test(rest);
  if (CLOSING.has(word) || DOTTED.test(word) || /^\p{L}$/u.test(word)) return !STARTERS.has(firstWord(rest));
  return false;
}

const firstWord = (text: string): string => /^\p{L}*/u.exec(text.replace(OPENERS, ''))![0].toLowerCase();
