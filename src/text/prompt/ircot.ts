/** The reasoner of IRCoT: one more sentence from documents, question and the sentences so far. */
import type { Hit } from '../../retriever.ts';
import { escapeTags } from '../passages.ts';
import { firstSentence } from '../sentence.ts';
import { withoutThinking } from './answer.ts';
import { evidence } from './evidence.ts';

export const nextSentencePrompt = (
  question: string,
  hits: readonly Hit[],
  sentences: readonly string[],
  words: number,
): string => `Reason towards the answer of the question below, one short sentence at a time, with the help of the documents.
Write only the next sentence. As soon as the answer is known, write: So the answer is: answer.

Documents:
${evidence(hits, words)}

Question: ${escapeTags(question)}
Sentences so far: ${sentences.length === 0 ? 'none' : escapeTags(sentences.join(' '))}`;

/** Empty when the reply holds none. */
export const sentenceOf = (reply: string): string => firstSentence(withoutThinking(reply));

export const concludes = (sentence: string): boolean => /\bthe\s+answer\s+is\b/i.test(sentence);
