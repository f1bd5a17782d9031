/**
 * Scores of one prediction against its gold aliases (method.md section 2). Every score is the best over the aliases, in
 * [0, 1]; an empty prediction scores 0. Diagnostics stand beside the scores and never bend them.
 */
import { readDate } from './dates.ts';
import { normalize, normalizeUnguarded, normalizeUnicode, words } from './normalize.ts';

export interface Scores {
  /** Equal to an alias after normalisation. */
  readonly em: 0 | 1;
  /** An alias occurs in the prediction, character level. */
  readonly coverEm: 0 | 1;
  /** An alias occurs in the prediction as whole words. Reported beside `coverEm`, never instead of it. */
  readonly coverEmToken: 0 | 1;
  readonly f1: number;
}

export interface Diagnostics {
  /** The gold is yes or no and the prediction begins with it. */
  readonly yesnoFirstToken: 0 | 1;
  /** EM and Cover-EM with Unicode punctuation deleted too. */
  readonly emUnicode: 0 | 1;
  readonly coverEmUnicode: 0 | 1;
  /** The same calendar date in another order. */
  readonly dateEqual: 0 | 1;
  /** What the published scripts give when articles empty a text. */
  readonly emUnguarded: 0 | 1;
  readonly coverEmUnguarded: 0 | 1;
}

export interface Gold {
  readonly aliases: readonly string[];
  /** A list of aliases arrived as JSON text inside a string. */
  readonly warning: 'gold_was_json_text' | null;
}

const bit = (condition: boolean): 0 | 1 => (condition ? 1 : 0);

/** Gold as data sets give it: a list, a bare string, or a list encoded as JSON text inside a string. */
export function readGold(gold: string | readonly string[]): Gold {
  if (typeof gold !== 'string') return { aliases: gold, warning: null };
  const list = jsonList(gold);
  return list === null ? { aliases: [gold], warning: null } : { aliases: list, warning: 'gold_was_json_text' };
}

function jsonList(text: string): readonly string[] | null {
  if (!text.trimStart().startsWith('[')) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
    return isList ? value : null;
  } catch {
    return null;
  }
}

/** `part` occurs in `whole` as a contiguous run of words; both normalised. */
export const containsWords = (whole: string, part: string): boolean =>
  part !== '' && ` ${whole} `.includes(` ${part} `);

export function score(prediction: string, aliases: readonly string[]): Scores {
  const said = normalize(prediction);
  const golds = aliases.map(normalize).filter((gold) => gold !== '');
  if (said === '') return { em: 0, coverEm: 0, coverEmToken: 0, f1: 0 };
  return {
    em: bit(golds.includes(said)),
    coverEm: bit(golds.some((gold) => said.includes(gold))),
    coverEmToken: bit(golds.some((gold) => containsWords(said, gold))),
    f1: golds.reduce((best, gold) => Math.max(best, tokenF1(said, gold)), 0),
  };
}

/** F1 of the two bags of words; both texts normalised and non-empty. */
function tokenF1(said: string, gold: string): number {
  const left = new Map<string, number>();
  for (const word of words(gold)) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of words(said)) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common++;
  }
  return (2 * common) / (words(said).length + words(gold).length);
}

export function diagnose(prediction: string, aliases: readonly string[]): Diagnostics {
  const first = words(normalize(prediction))[0];
  const golds = aliases.map(normalize);
  const unicode = normalizeUnicode(prediction);
  const unicodeGolds = aliases.map(normalizeUnicode).filter((gold) => gold !== '');
  const unguarded = normalizeUnguarded(prediction);
  const unguardedGolds = aliases.map(normalizeUnguarded);
  const date = readDate(prediction);
  return {
    yesnoFirstToken: bit((first === 'yes' || first === 'no') && golds.includes(first)),
    emUnicode: bit(unicodeGolds.includes(unicode)),
    coverEmUnicode: bit(unicodeGolds.some((gold) => unicode.includes(gold))),
    dateEqual: bit(date !== null && aliases.some((gold) => readDate(gold) === date)),
    emUnguarded: bit(unguardedGolds.includes(unguarded)),
    coverEmUnguarded: bit(unguardedGolds.some((gold) => unguarded.includes(gold))),
  };
}
