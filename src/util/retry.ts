/**
 * Bounded retries. The wait before retry i (from 0) is firstMs · 2^i, at most longestMs, times a jitter in ½..1 that is keyed:
 * the same key waits the same time in every run, different keys do not come back all at once.
 */
import { setTimeout as sleepFor } from 'node:timers/promises';
import { rng } from './rng.ts';

export interface Retry {
  /** Attempts after the first one. */
  readonly retries: number;
  readonly firstMs: number;
  /** A server that asks for a longer wait than this is not waited for. */
  readonly longestMs: number;
}

/** Three retries, as a failed rollout has (the fourth failure stands). */
export const RETRY: Retry = { retries: 3, firstMs: 500, longestMs: 30_000 };

/** Whether a failure may pass; `afterMs` is the wait that the server asked for, null when it did not. */
export type Again = { readonly afterMs: number | null } | null;

export interface RetryOptions {
  readonly retry: Retry;
  /** Names the jitter. */
  readonly key: string;
  /** Null: the failure stands. */
  readonly again: (error: unknown) => Again;
  readonly signal?: AbortSignal;
  /** A clock for tests. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Milliseconds to wait before retry `index`; null when it is not worth waiting. */
export function waitBefore(index: number, { afterMs }: NonNullable<Again>, key: string, retry: Retry): number | null {
  if (index >= retry.retries || (afterMs ?? 0) > retry.longestMs) return null;
  const jitter = 0.5 + rng('retry', key, index).uniform() / 2;
  return Math.max(afterMs ?? 0, Math.min(retry.longestMs, retry.firstMs * 2 ** index) * jitter);
}

/** The first success of `work`, else the last failure. @param work hears which attempt it is, from 0. */
export async function retrying<T>(options: RetryOptions, work: (attempt: number) => Promise<T>): Promise<T> {
  const { retry, key, again, signal, sleep = sleepAbortably } = options;
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      const may = again(error);
      const wait = may === null ? null : waitBefore(attempt, may, key, retry);
      if (wait === null) throw error;
      await sleep(wait, signal);
    }
  }
}

async function sleepAbortably(ms: number, signal?: AbortSignal): Promise<void> {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch((error) => {
    throw signal?.reason ?? error;
  });
}
