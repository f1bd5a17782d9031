/** The downstream exam: one greedy trajectory a gold question (method.md section 6). An outage is never a wrong answer. */
import { mean } from '../method/statistics.ts';
import type { EvaluationRecord } from '../record.ts';
import { converse } from '../rollout/converse.ts';
import { score } from '../text/score.ts';
import type { Rollout } from '../types.ts';
import { type Context, environment } from './context.ts';
import { answerNote, putRollouts } from './measure.ts';
import { metered } from './usage.ts';

/** Conversations at once: what an engine caches for them must fit in memory. */
const BATCH = 256;

export async function evaluate(
  given: Context,
  at: { readonly system: string; readonly round: number; readonly policy: string },
): Promise<EvaluationRecord> {
  const [context, spent] = metered(given);
  const { task } = context;
  const { gold } = task;
  const env = await environment(context, at.policy, 'solver', { temperature: 0, topP: 1 });
  const rollouts: Rollout[] = [];
  for (let i = 0; i < gold.length; i += BATCH) {
    const batch = gold.slice(i, i + BATCH);
    rollouts.push(
      ...(await converse(
        batch.map(({ text, id }) => ({ prompt: task.dialect.solverPrompt(text), question: text, key: `exam/${id}` })),
        env,
      )),
    );
  }
  const scores = rollouts.map((r, i) => score(r.answer ?? '', gold[i]!.label.answers));
  const notes = rollouts.map((rollout, i) => {
    const { text: question, source, hops } = gold[i]!;
    return answerNote({ question, source, hops }, rollout, { feedback: null, attempt: 0, reward: scores[i]!.em });
  });
  return {
    kind: 'evaluation',
    ...at,
    hops: gold.map((q) => q.hops),
    em: scores.map((s) => s.em === 1),
    coverEm: scores.map((s) => s.coverEm === 1),
    searches: mean(rollouts.map((r) => r.searches)),
    unanswered: rollouts.filter((r) => r.answer === null && r.stop !== 'error').length,
    failed: rollouts.flatMap((r, i) => (r.stop === 'error' ? [i] : [])),
    usage: spent(),
    rollouts: await putRollouts(context, notes),
  };
}
