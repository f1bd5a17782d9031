/** rag: one retrieval on the question, then think and answer. */
import type { Procedure } from '../strategy.ts';
import { readPrompt } from '../text/prompt/read.ts';

export const rag: Procedure = async (question, { ask, search, evidenceWords }) =>
  ask({ messages: [readPrompt(question, await search(question), evidenceWords)] });
