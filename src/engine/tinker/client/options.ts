/** What a Tinker server is opened with, and how long anything may take. */
import type { Tokenizer } from '../../../engine.ts';
import { UserError } from '../../../util/error.ts';
import { checkUrl } from '../../../util/http.ts';
import { nearest } from '../../../util/suggest.ts';
import type { EngineWords } from '../../words.ts';
import { isProfile, PROFILES, type ProfileName } from './profiles.ts';

/** Milliseconds. */
export interface TinkerTimes {
  /** One operation, waiting in the server's queue included. */
  readonly operationMs: number;
  /** A server that nobody reaches is given up after this. */
  readonly patienceMs: number;
  /** One wait for a result; then it is asked for again. */
  readonly pollMs: number;
  readonly heartbeatMs: number;
  /** First pause before something is sent again; doubled each time, up to thirty seconds. */
  readonly pauseMs: number;
}

export const TINKER_TIMES: TinkerTimes = {
  operationMs: 3_600_000,
  patienceMs: 120_000,
  pollMs: 45_000,
  heartbeatMs: 10_000,
  pauseMs: 500,
};

export interface TinkerOptions {
  readonly url: string;
  /** What the server calls the base model. */
  readonly base: string;
  readonly tokenizer: Tokenizer;
  /** Default: found out. */
  readonly profile?: ProfileName;
  /** Longest sequence; default what the server says. */
  readonly contextLength?: number;
  /** Of the LoRA adapters. */
  readonly rank?: number;
  /** Part of every request's seed. */
  readonly seed?: number;
  /** Sampling requests under way at once. */
  readonly concurrency?: number;
  readonly times?: Partial<TinkerTimes>;
  /** Hears what is worth telling a user and stops nothing. */
  readonly warn?: (text: string) => void;
  /** Default --engine, --base, and how to go on with a run. */
  readonly words?: Partial<EngineWords>;
}

export type TinkerTarget = Pick<TinkerOptions, 'url' | 'profile' | 'rank' | 'contextLength'> & {
  readonly deadlineMs?: number;
};

const NUMBERS = { rank: 'rank', context: 'contextLength', deadline: 'deadlineMs' } as const;

/**
 * `http://host:8000#skyrl-train,rank=16,context=8192,deadline=600`: an address, then what is known of the server: its profile,
 * the LoRA rank, the longest sequence, seconds for one operation. @throws UserError
 */
export function readTarget(target: string): TinkerTarget {
  const [url, ...rest] = target.split('#');
  checkUrl(url!, '--engine tinker:URL');
  const read: Record<string, unknown> = { url: url!.replace(/\/+$/, '') };
  for (const part of rest.join('#').split(',').filter(Boolean)) {
    const [name, value = ''] = part.split('=');
    if (isProfile(part)) read.profile = part;
    else if (Object.hasOwn(NUMBERS, name!) && /^[1-9]\d{0,8}$/.test(value))
      read[NUMBERS[name as keyof typeof NUMBERS]] = Number(value) * (name === 'deadline' ? 1000 : 1);
    else
      throw new UserError(
        `--engine tinker:${url}#${part}: "${part}" is unknown${guess(part)}; expected a profile (${Object.keys(PROFILES).join(', ')}), rank=N, context=N or deadline=SECONDS`,
      );
  }
  return read as unknown as TinkerTarget;
}

function guess(typed: string): string {
  const close = typed.includes('=') ? null : nearest(typed, Object.keys(PROFILES));
  return close === null ? '' : ` (did you mean ${close}?)`;
}
