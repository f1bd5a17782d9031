/** n answers of a policy to each of several questions, and what most of them say: labels where there is no reference. */
import type { Matcher } from '../../matcher.ts';
import { answerPairs, isLabel, type Vote, vote } from '../../method/vote.ts';
import type { Environment } from '../../rollout/converse.ts';
import { attempts } from '../../rollout/group.ts';
import type { Feedback, Rollout } from '../../types.ts';
import type { Asking } from '../grade.ts';

/** Conversations at once: what an engine caches for them must fit in memory. */
const LANES = 400;

export type Polling = Pick<Asking, 'question' | 'source' | 'hops' | 'key'>;

export interface Polled {
  readonly asked: Polling;
  /** Answers of the largest group that agrees; 0 when there are none. */
  readonly votes: number;
  /** Responses, those without an answer among them; outages are not. 0 where nobody could tell which agree. */
  readonly answers: number;
  /** With the majority as label; null where no two answers agree. */
  readonly feedback: Feedback | null;
  /** Responses in `feedback` order. */
  readonly rollouts: readonly Rollout[];
  /** Responses lost to an outage. */
  readonly failed: number;
}

/** In the order of the questions. */
export async function poll(
  askings: readonly Polling[],
  n: number,
  env: Environment,
  matcher: Matcher,
): Promise<Polled[]> {
  const size = Math.max(1, Math.floor(LANES / n));
  const groups: (readonly Rollout[])[] = [];
  for (let from = 0; from < askings.length; from += size) {
    const tasks = askings.slice(from, from + size).map(({ question, key }) => ({
      prompt: env.dialect.solverPrompt(question),
      question,
      key,
    }));
    groups.push(...(await attempts(tasks, n, env)));
  }
  const kept = groups.map((rollouts) => rollouts.filter((r) => r.stop !== 'error'));
  const responses = kept.map((rollouts) => rollouts.map((r) => r.answer));
  const pairs = responses.map(answerPairs);
  const same = await matcher.match(
    askings.flatMap(({ question }, i) => pairs[i]!.map(([a, b]) => ({ question, a, b }))),
  );
  let next = 0;
  return askings.map((asked, i) => {
    next += pairs[i]!.length;
    const own = same.slice(next - pairs[i]!.length, next);
    const told = own.filter((match) => match !== null);
    const found = told.length < own.length ? null : vote(responses[i]!, told);
    return {
      asked,
      votes: found?.votes ?? 0,
      answers: told.length < own.length ? 0 : kept[i]!.length,
      feedback: feedbackOf(asked, responses[i]!, found, env.policy.id),
      rollouts: kept[i]!,
      failed: groups[i]!.length - kept[i]!.length,
    };
  });
}

function feedbackOf(
  { question, source, hops }: Polling,
  responses: Feedback['responses'],
  found: Vote | null,
  grader: string,
): Feedback | null {
  if (!isLabel(found)) return null;
  return { question, source, hops, label: responses[found.index]!, grader, responses, matches: found.matches };
}
