/** What may be blanked in a sentence: a date, number, name or identifier of one to four words. */
import { normalize } from '../normalize.ts';
import { sentencesOf } from './sentences.ts';
import { statementOf } from './statement.ts';

/** A sentence with one span marked; the sentence is left + span + right. */
export interface Cloze {
  /** Ends with the white space before the span, if any. */
  readonly left: string;
  readonly span: string;
  /** Begins with the white space after the span, if any. */
  readonly right: string;
}

const L = '[\\p{L}\\p{M}\\p{N}_]';
const edge = { before: `(?<!${L})`, after: `(?!${L})` };
const month = '(?:January|February|March|April|May|June|July|August|September|October|November|December)';
const name = `\\p{Lu}[\\p{L}\\p{M}\\p{N}]*(?:['’-](?!s${edge.after})[\\p{L}\\p{M}\\p{N}]+)*`;
const patterns = [
  '(?<=`)[^`\\s]+(?: [^`\\s]+){0,3}(?=`)', // code in back ticks, without them
  `${edge.before}(?:\\p{N}{1,2} )?${month}(?: \\p{N}{1,2}${edge.after})?(?:,? \\p{N}{4})?${edge.after}`,
  `${edge.before}\\p{N}+(?:[,.]\\p{N}+)*${edge.after}`,
  `${edge.before}[\\p{L}\\p{N}]*_${L}+${edge.after}`,
  `(?<!-)${edge.before}${name}(?: (?:(?:of the|of|the|de|la|van|von|du) )?${name}){0,3}${edge.after}`,
];
const span = new RegExp(patterns.join('|'), 'gu');

const openers = 'The He She It In This They His Her A An I On At As For But And You If We When While After Its';
const titles = 'Mr Mrs Ms Dr St';
const notNames = new Set(`${openers} ${titles}`.split(' '));
const MAX_CHARS = 40;

/**
 * Every cloze of a passage. A span never begins its sentence and never occurs in the rest of it, which would give it away
 * (and fail the gate of method.md section 1).
 */
export const clozesOf = (passage: string): readonly Cloze[] => sentencesOf(passage).flatMap(clozesOfSentence);

function clozesOfSentence(sentence: string): Cloze[] {
  if (sentence.includes('___')) return [];
  // Code is what stands between an odd and an even back tick, and it is blanked whole or not at all.
  return [...sentence.matchAll(span)]
    .filter((match) => isInsideCode(sentence, match.index) === (sentence[match.index - 1] === '`'))
    .map((match) => ({
      left: sentence.slice(0, match.index),
      span: match[0],
      right: sentence.slice(match.index + match[0].length),
    }))
    .filter(isGood);
}

const isInsideCode = (sentence: string, at: number): boolean => sentence.slice(0, at).split('`').length % 2 === 0;

function isGood(cloze: Cloze): boolean {
  const { left, span: text } = cloze;
  if (notNames.has(text) || /^\p{L}$/u.test(text) || text.length > MAX_CHARS || text.split(' ').length > 4)
    return false;
  if (left.trim().split(/\s+/).length < 2) return false;
  const key = normalize(text);
  return key !== '' && !normalize(statementOf(cloze)).includes(key);
}
