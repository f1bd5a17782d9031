/**
 * How many facts a written question really chains, whatever its prompt asked for: the hop mix of a self-written bank is read
 * off the questions. Null where the text does not say.
 */
import { parseQuestion } from '../../world/question.ts';
import type { TaskKind } from '../presets.ts';

export const HOPS_OF: Readonly<Record<TaskKind, (question: string) => number | null>> = {
  world: (question) => parseQuestion(question)?.relations.length ?? null,
  // One sentence, one blank.
  docs: () => 1,
};
