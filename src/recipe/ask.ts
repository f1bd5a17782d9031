/** One question to one policy: the whole rollout, greedy. */
import type { Engine } from '../engine.ts';
import { converse } from '../rollout/converse.ts';
import type { Task } from '../train/context.ts';
import type { Rollout } from '../types.ts';

export async function ask(
  question: string,
  engine: Engine,
  task: Task,
  policy: string,
  topK: number,
): Promise<Rollout> {
  const { dialect, retriever, limits } = task;
  const [rollout] = await converse([{ prompt: dialect.solverPrompt(question), question, key: `ask/${question}` }], {
    policy: await engine.policy(policy),
    tokenizer: engine.tokenizer,
    dialect,
    retriever,
    topK,
    limits: limits.solver,
    sampling: { temperature: 0, topP: 1 },
  });
  return rollout!;
}
