/** direct: question → short answer, from what the model knows. */
import type { Procedure } from '../strategy.ts';
import { directPrompt } from '../text/prompt/direct.ts';

export const direct: Procedure = (question, { ask }) => ask({ messages: [directPrompt(question)] });
