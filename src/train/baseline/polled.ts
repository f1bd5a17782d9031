/** The questions that a policy wrote, and what a solver's answers to them come to. */
import type { Matcher } from '../../matcher.ts';
import type { Environment } from '../../rollout/converse.ts';
import type { Feedback } from '../../types.ts';
import type { Drafted } from '../propose.ts';
import { type Polled, poll } from './vote.ts';

export interface PolledDrafts {
  /** Without those that an outage took. */
  readonly usable: readonly Drafted[];
  /** Of those, the ones that hold a question. */
  readonly formed: readonly Drafted[];
  /** In the order of `formed`. */
  readonly polled: readonly Polled[];
  /** Of the proposals and of the answers, lost to outages. */
  readonly failed: number;
}

export async function pollDrafts(
  drafted: readonly Drafted[],
  /** `key` is unique among the calls of a run. */
  { key, answers, env, matcher }: { key: string; answers: number; env: Environment; matcher: Matcher },
): Promise<PolledDrafts> {
  const usable = drafted.filter((d) => d.rollout.stop !== 'error');
  const formed = usable.filter((d) => d.rollout.question !== null);
  const polled = await poll(
    formed.map(({ rollout, source, hops }, i) => ({ question: rollout.question!, source, hops, key: `${key}/${i}` })),
    answers,
    env,
    matcher,
  );
  const failed = drafted.length - usable.length + polled.reduce((sum, own) => sum + own.failed, 0);
  return { usable, formed, polled, failed };
}

/** Those that got a label, and the place of each among them; null: it got none. */
export function labelledOf(polled: readonly Polled[]): {
  readonly labelled: readonly { readonly own: Polled; readonly feedback: Feedback }[];
  readonly placeOf: (own: Polled | undefined) => number | null;
} {
  const labelled = polled.flatMap((own) => (own.feedback === null ? [] : [{ own, feedback: own.feedback }]));
  const places = new Map<Polled | undefined, number>(labelled.map(({ own }, i) => [own, i]));
  return { labelled, placeOf: (own) => places.get(own) ?? null };
}
