/** Figures of a step's rollouts, and their form on disk. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { mean } from '../method/statistics.ts';
import type { RolloutRecord, StepRecord } from '../record.ts';
import type { Feedback, Rollout } from '../types.ts';
import type { Context } from './context.ts';

const logprobsOf = (rollouts: readonly Rollout[]): number[] =>
  rollouts.flatMap((r) => r.turns.flatMap((t) => (t.kind === 'reply' ? t.logprobs : [])));

/** `rewarded`: the solver's rollouts that earned the reward. */
export const solverFigures = (all: readonly Rollout[], rewarded: readonly Rollout[]): StepRecord['rollout'] => ({
  ...rolloutFigures(all),
  correct: rewarded.length === 0 ? null : mean(logprobsOf(rewarded)),
});

export function rolloutFigures(rollouts: readonly Rollout[]): StepRecord['rollout'] {
  const logprobs = logprobsOf(rollouts);
  return {
    searches: mean(rollouts.map((r) => r.searches)),
    tokens: mean(rollouts.map((r) => r.turns.reduce((sum, t) => sum + (t.kind === 'reply' ? t.tokens.length : 0), 0))),
    entropy: -mean(logprobs),
    truncated: rollouts.filter((r) => r.stop === 'token-limit').length / Math.max(1, rollouts.length),
  };
}

export function meanParts(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = [...new Set(parts.flatMap((p) => Object.keys(p)))];
  return Object.fromEntries(names.map((name) => [name, mean(parts.map((p) => p[name] ?? 0))]));
}

export function countBy(xs: readonly (string | number)[]): Record<string, number> {
  const out: Record<string, number> = {};
  for (const x of xs) out[x] = (out[x] ?? 0) + 1;
  return out;
}

/** What is known of a rollout before it is written. */
export type RolloutNote = Omit<RolloutRecord, 'text'>;

/** What a trajectory earned; absent where it trained nothing. */
export interface Earned {
  readonly reward: number;
  readonly advantage: number;
}

/** A proposal. `feedback` is the place of its question in the step's feedback. */
export const proposalNote = (
  { source, hops, rollout }: Pick<RolloutNote, 'source' | 'hops' | 'rollout'>,
  feedback: number | null,
  earned?: Earned,
): RolloutNote => ({
  role: 'proposer',
  about: source,
  source,
  hops,
  feedback,
  attempt: 0,
  reward: earned?.reward ?? null,
  advantage: earned?.advantage ?? null,
  rollout,
});

/** A response to a question. `feedback` is the place of the question in the step's feedback. */
export const answerNote = (
  { question, source, hops }: Pick<Feedback, 'question' | 'source' | 'hops'>,
  rollout: Rollout,
  { feedback, attempt, reward, advantage = null }: AnswerPlace,
): RolloutNote => ({
  role: 'solver',
  about: question,
  source,
  hops,
  feedback,
  attempt,
  reward,
  advantage,
  rollout,
});

type AnswerPlace = Pick<RolloutNote, 'feedback' | 'attempt' | 'reward'> & Partial<Pick<RolloutNote, 'advantage'>>;

/** Gzipped JSONL, one RolloutRecord a line: turns also as text, for people; the tokens stay the truth. Returns the blob id. */
export function putRollouts({ engine, blobs }: Context, notes: readonly RolloutNote[]): Promise<string> {
  const textOf = ({ turns }: Rollout): RolloutRecord['text'] =>
    turns.map(({ kind, tokens }) => ({ kind, text: engine.tokenizer.decode(tokens) }));
  const lines = notes.map((note): RolloutRecord => ({ ...note, text: textOf(note.rollout) }));
  return blobs.put(gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
}

/** What `putRollouts` wrote. */
export async function getRollouts(
  { blobs }: { readonly blobs: Pick<Context['blobs'], 'get'> },
  id: string,
): Promise<RolloutRecord[]> {
  const text = gunzipSync(await blobs.get(id)).toString('utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as RolloutRecord]));
}
