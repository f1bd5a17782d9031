/** The reader: passages and a question, then thought and answer. */
import type { Hit } from '../../retriever.ts';
import { escapeTags } from '../passages.ts';
import { THINK_FIRST } from './answer.ts';
import { evidence } from './evidence.ts';

export const readPrompt = (
  question: string,
  hits: readonly Hit[],
  words: number,
): string => `Answer the question below with the help of the documents; some of them may not matter. ${THINK_FIRST}

Documents:
${evidence(hits, words)}

Question: ${escapeTags(question)}`;
