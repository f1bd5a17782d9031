/** n attempts at each of several tasks. A failed attempt is data: it stays in its group with its stop reason. */
import type { Rollout } from '../types.ts';
import { type Conversation, converse, type Environment } from './converse.ts';

/** One group of n rollouts per task, in task order; attempt j of a task with key K has the key `K/j`. All run as one batch. */
export async function attempts(
  tasks: readonly Conversation[],
  n: number,
  env: Environment,
): Promise<readonly (readonly Rollout[])[]> {
  const batch = tasks.flatMap((task) => Array.from({ length: n }, (_, j) => ({ ...task, key: `${task.key}/${j}` })));
  const rollouts = await converse(batch, env);
  return tasks.map((_, i) => rollouts.slice(i * n, (i + 1) * n));
}
