/** A question for people is the statement with its blank as `____`. */
import type { Cloze } from './spans.ts';

export const BLANK = '____';

export const statementOf = ({ left, right }: Omit<Cloze, 'span'>): string => left + BLANK + right;

/** What stands before and after the first blank; a question without one is all on the left. */
export function sidesOf(question: string): Omit<Cloze, 'span'> {
  const at = question.indexOf(BLANK);
  if (at < 0) return { left: question, right: '' };
  return { left: question.slice(0, at), right: question.slice(at + BLANK.length) };
}

export const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');

/** White space at the end and at the start of a text. */
export const gapAfter = (text: string): string => /\s*$/.exec(text)![0];
export const gapBefore = (text: string): string => /^\s*/.exec(text)![0];
