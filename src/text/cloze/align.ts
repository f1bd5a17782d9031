/** Finds what really fills a blank: the statement laid over the text it was copied from. */
import { normalize } from '../normalize.ts';
import { sentencesOf } from './sentences.ts';
import { BLANK, sidesOf, wordsOf } from './statement.ts';

export type Alignment =
  | { readonly found: true; readonly span: string }
  | { readonly found: false; readonly why: 'no blank' | 'not in the source' | 'several spans fit' };

/** Words next to the blank that must agree: all of them, or else fewer (something far off may be miscopied). */
const REACH = [Infinity, 6, 3];
const MAX_SPAN_WORDS = 6;

/** The one span of 1–6 words in a sentence of `passages` that stands where the question has its blank. */
export function alignBlank(question: string, passages: readonly string[]): Alignment {
  if (!question.includes(BLANK)) return { found: false, why: 'no blank' };
  const { left, right } = sidesOf(question);
  const sentences = passages.flatMap(sentencesOf).map((sentence) => wordsOf(sentence).join(' '));
  for (const reach of REACH) {
    const before = wordsOf(left).slice(-reach).join(' ');
    const after = wordsOf(right).slice(0, reach).join(' ');
    const spans = sentences.flatMap((sentence) => spansBetween(sentence, before, after));
    if (new Set(spans.map(normalize)).size > 1) return { found: false, why: 'several spans fit' };
    if (spans.length > 0) return { found: true, span: spans[0]! };
  }
  return { found: false, why: 'not in the source' };
}

/** Spans right after `before` and right before `after`. A side without words is the border of the sentence. */
function spansBetween(sentence: string, before: string, after: string): string[] {
  return startsAfter(sentence, before).flatMap((start) => {
    const rest = sentence.slice(start);
    const ends = after === '' ? [rest.length] : [rest.length - after.length, rest.indexOf(after, 1)];
    const span = ends
      .filter((end) => end > 0 && rest.startsWith(after, end))
      .map((end) => rest.slice(0, end))
      .find((raw) => isSpan(raw, before, after));
    return span === undefined ? [] : [span.trim()];
  });
}

function startsAfter(sentence: string, before: string): number[] {
  if (before === '') return [0];
  const starts: number[] = [];
  for (let at = sentence.indexOf(before); at >= 0; at = sentence.indexOf(before, at + 1))
    if (at === 0 || sentence[at - 1] === ' ') starts.push(at + before.length);
  return starts;
}

const endsInWord = /[\p{L}\p{M}\p{N}]$/u;
const beginsInWord = /^[\p{L}\p{M}\p{N}]/u;

/** Whole words only, and not too many. */
function isSpan(raw: string, before: string, after: string): boolean {
  const count = wordsOf(raw).length;
  if (count === 0 || count > MAX_SPAN_WORDS) return false;
  const cutsFirst = endsInWord.test(before) && beginsInWord.test(raw);
  const cutsLast = endsInWord.test(raw) && beginsInWord.test(after);
  return !cutsFirst && !cutsLast;
}
