/** n answers of a policy to each of several questions, matched against their labels: feedback, solver training and audit share it. */
import type { Matcher } from '../matcher.ts';
import type { Environment } from '../rollout/converse.ts';
import { attempts } from '../rollout/group.ts';
import type { Feedback, Hops, Rollout } from '../types.ts';

export interface Asking {
  readonly question: string;
  readonly label: string;
  /** Further accepted answers. */
  readonly aliases?: readonly string[] | undefined;
  readonly source: string;
  readonly hops: Hops;
  /** Names the random streams of the responses. */
  readonly key: string;
}

export interface Graded {
  readonly feedback: Feedback;
  /** Responses in `feedback` order; outages are left out of both. */
  readonly rollouts: readonly Rollout[];
  /** Responses lost to an outage. */
  readonly failed: number;
}

export async function grade(
  askings: readonly Asking[],
  n: number,
  env: Environment,
  matcher: Matcher,
): Promise<Graded[]> {
  const { dialect, policy } = env;
  const groups = await attempts(
    askings.map(({ question, key }) => ({ prompt: dialect.solverPrompt(question), question, key })),
    n,
    env,
  );
  const kept = groups.map((rollouts) => rollouts.filter((r) => r.stop !== 'error'));
  const verdicts = await matcher.match(
    askings.flatMap((asking, i) =>
      kept[i]!.flatMap(({ answer: b }) =>
        b === null ? [] : accepted(asking).map((a) => ({ question: asking.question, a, b })),
      ),
    ),
  );
  let next = 0;
  const anyOf = (n: number): boolean => {
    next += n;
    return verdicts.slice(next - n, next).includes(true);
  };
  return askings.map((asking, i) => {
    const { question, label, source, hops } = asking;
    const rollouts = kept[i]!;
    const matches = rollouts.map((r) => r.answer !== null && anyOf(accepted(asking).length));
    const responses = rollouts.map((r) => r.answer);
    return {
      feedback: { question, source, hops, label, grader: policy.id, responses, matches },
      rollouts,
      failed: groups[i]!.length - rollouts.length,
    };
  });
}

const accepted = ({ label, aliases = [] }: Asking): readonly string[] => [label, ...aliases];

/** Share of all responses that match; null when there are none. */
export function agreementOf(graded: readonly Pick<Graded, 'feedback'>[]): number | null {
  const matches = graded.flatMap((g) => g.feedback.matches);
  return matches.length === 0 ? null : matches.filter(Boolean).length / matches.length;
}
