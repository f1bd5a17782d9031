/** Gold questions for measuring: what fills the blank is known from the text. */
import type { Passage } from '../../types.ts';
import { rng } from '../../util/rng.ts';
import { clozesOf } from './spans.ts';
import { statementOf, wordsOf } from './statement.ts';

export interface ClozeQuestion {
  readonly question: string;
  readonly answer: string;
  readonly source: string;
  /** The passage that holds the sentence. */
  readonly passage: string;
}

/** Fewer words leave a question that several passages answer. */
const MIN_WORDS = 5;

/** At most `n` questions, one a passage; the same arguments give the same questions, and fewer are the first of more. */
export function clozeQuestions(passages: readonly Passage[], n: number, key: string): readonly ClozeQuestion[] {
  const out: ClozeQuestion[] = [];
  for (const { id, source, text } of rng('cloze-questions', key).shuffle(passages)) {
    if (out.length >= n) break;
    const clozes = clozesOf(text).filter((cloze) => wordsOf(cloze.left + cloze.right).length >= MIN_WORDS);
    if (clozes.length === 0) continue;
    const cloze = rng('cloze-questions', key, id).pick(clozes);
    out.push({ question: statementOf(cloze), answer: cloze.span, source, passage: id });
  }
  return out;
}
