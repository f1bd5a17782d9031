/** cot: think, then answer, from what the model knows. */
import type { Procedure } from '../strategy.ts';
import { cotPrompt } from '../text/prompt/direct.ts';

export const cot: Procedure = (question, { ask }) => ask({ messages: [cotPrompt(question)] });
