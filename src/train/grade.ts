/** n answers of a policy to each of several questions, matched against their labels: feedback, solver training and audit share it. */
import { matchAnswers } from '../matcher/answers.ts';
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
  /** Responses in `feedback` order; outages, and what nobody could tell to match or not, are left out of both. */
  readonly rollouts: readonly Rollout[];
  /** Responses that are left out. */
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
  const found = await matchAnswers(
    matcher,
    askings.map((asking, i) => ({
      question: asking.question,
      accepted: accepted(asking),
      answers: kept[i]!.map((r) => r.answer),
    })),
  );
  return askings.map(({ question, label, source, hops }, i) => {
    const told = kept[i]!.flatMap((rollout, j) => {
      const match = found[i]![j]!;
      return match === null ? [] : [{ rollout, match }];
    });
    const rollouts = told.map(({ rollout }) => rollout);
    const responses = rollouts.map((r) => r.answer);
    const matches = told.map(({ match }) => match);
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
