/** Prompts without search: an answer at once, or after thinking. */
import { escapeTags } from '../passages.ts';
import { SHORT_ANSWER, THINK_FIRST } from './answer.ts';

export const directPrompt = (question: string): string => `Answer the question below with <answer> answer </answer>.
${SHORT_ANSWER}

Question: ${escapeTags(question)}`;

export const cotPrompt = (question: string): string => `Answer the question below. ${THINK_FIRST}

Question: ${escapeTags(question)}`;
