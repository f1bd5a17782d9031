/** Figures of a step's rollouts, and their form on disk. */
import { gzipSync } from 'node:zlib';
import type { Tokenizer } from '../engine.ts';
import type { RolloutRecord, StepRecord } from '../record.ts';
import type { Blobs } from '../store.ts';
import type { Rollout } from '../types.ts';

const mean = (xs: readonly number[]): number => (xs.length === 0 ? 0 : xs.reduce((a, b) => a + b, 0) / xs.length);

export function rolloutFigures(rollouts: readonly Rollout[]): StepRecord['rollout'] {
  const logprobs = rollouts.flatMap((r) => r.turns.flatMap((t) => (t.kind === 'reply' ? t.logprobs : [])));
  return {
    searches: mean(rollouts.map((r) => r.searches)),
    tokens: mean(rollouts.map((r) => r.turns.reduce((sum, t) => sum + (t.kind === 'reply' ? t.tokens.length : 0), 0))),
    entropy: -mean(logprobs),
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

/** Turns as text, for people; the tokens stay the truth. */
export const spoken = (tokenizer: Tokenizer, { turns }: Rollout): RolloutRecord['text'] =>
  turns.map(({ kind, tokens }) => ({ kind, text: tokenizer.decode(tokens) }));

/** Gzipped JSONL, one RolloutRecord a line. Returns the blob id. */
export const putRollouts = (blobs: Blobs, records: readonly RolloutRecord[]): Promise<string> =>
  blobs.put(gzipSync(records.map((r) => `${JSON.stringify(r)}\n`).join('')));
