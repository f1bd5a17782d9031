/**
 * Requests under way and their results. Ids carry the server's life, so a request from before a restart is told apart (410)
 * from one that never was (404).
 */
import { randomUUID } from 'node:crypto';
import { InfraError, messageOf, UserError } from '../../../util/error.ts';
import { Refusal } from './refusal.ts';
import type { TinkerSettings } from './settings.ts';

/** A result as JSON, and as protobuf where the wire has a message for it. */
export interface Result {
  readonly json: object;
  readonly proto?: Uint8Array;
}

type Outcome =
  | { readonly state: 'done'; readonly result: Result; readonly at: number }
  | { readonly state: 'failed'; readonly error: string; readonly category: 'user' | 'server'; readonly at: number };

interface Entry {
  readonly settled: Promise<void>;
  outcome: Outcome | null;
}

export type Answer =
  | { readonly kind: 'json'; readonly status: 200 | 408; readonly body: object }
  | { readonly kind: 'proto'; readonly body: Uint8Array };

export interface Futures {
  /** Registers work that has begun; returns its request id. @throws Refusal 429 when too much is under way. */
  add(begin: () => Promise<Result>): string;
  /** Waits for the result, at most for the hold time. @throws Refusal 404, 410 */
  retrieve(id: string, asked: { readonly proto: boolean; readonly metadataOnly: boolean }): Promise<Answer>;
  /** Forgets results that nobody fetched in time. */
  sweep(): void;
  /** Returns when nothing is under way. */
  drain(): Promise<void>;
}

/** `failed` hears of what is not the client's fault. */
export function openFutures(
  settings: TinkerSettings,
  now: () => number,
  failed: (error: unknown) => void = () => {},
): Futures {
  const life = randomUUID();
  const entries = new Map<string, Entry>();
  let next = 0;
  let pending = 0;

  const outcomeOf = async (begin: () => Promise<Result>): Promise<Outcome> => {
    try {
      return { state: 'done', result: await begin(), at: now() };
    } catch (error) {
      if (error instanceof UserError || error instanceof Refusal)
        return { state: 'failed', error: error.message, category: 'user', at: now() };
      failed(error);
      const told = error instanceof InfraError ? messageOf(error) : 'the server has said why in its log';
      return { state: 'failed', error: told, category: 'server', at: now() };
    }
  };

  const entryOf = (id: string): Entry => {
    const entry = entries.get(id);
    if (entry !== undefined) return entry;
    const [, past, number] = /^([0-9a-f-]{36})\.(\d{1,15})$/.exec(id) ?? [];
    if (past === undefined) throw new Refusal(404, `no request has the id "${id}"`);
    if (past !== life) throw new Refusal(410, 'the server was restarted since this request; send it again');
    if (Number(number) < next) throw new Refusal(410, 'the result was not fetched in time and is gone');
    throw new Refusal(404, `no request has the id "${id}"`);
  };

  return {
    add(begin) {
      if (pending >= settings.maxPending)
        throw new Refusal(429, `${pending} requests are under way; send this one again in a second`);
      const id = `${life}.${next++}`;
      pending++;
      const work = outcomeOf(begin);
      const entry: Entry = {
        settled: work.then((outcome) => {
          entry.outcome = outcome;
          pending--;
        }),
        outcome: null,
      };
      entries.set(id, entry);
      return id;
    },
    async retrieve(id, { proto, metadataOnly }) {
      const entry = entryOf(id);
      if (entry.outcome === null) await within(settings.holdMs, entry.settled);
      const { outcome } = entry;
      if (outcome === null) {
        const state = pending >= settings.maxPending ? 'paused_capacity' : 'active';
        const body = { type: 'try_again', request_id: id, queue_state: state };
        return { kind: 'json', status: settings.pending === 'timeout' ? 408 : 200, body };
      }
      if (outcome.state === 'failed')
        return { kind: 'json', status: 200, body: { error: outcome.error, category: outcome.category } };
      const { result } = outcome;
      if (proto && result.proto !== undefined) {
        const size = result.proto.length;
        if (!metadataOnly || size <= settings.inlineBytes) return { kind: 'proto', body: result.proto };
        return { kind: 'json', status: 200, body: { status: 'complete_metadata', response_payload_size: size } };
      }
      return { kind: 'json', status: 200, body: result.json };
    },
    sweep() {
      for (const [id, { outcome }] of entries)
        if (outcome !== null && now() - outcome.at > settings.resultMs) entries.delete(id);
    },
    async drain() {
      await Promise.all([...entries.values()].map((entry) => entry.settled));
    },
  };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
