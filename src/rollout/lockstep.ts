/**
 * Coroutines in lockstep: a batch of tasks that each ask a model and search, one thing at a time. What they wait for is served
 * together: as soon as every task that still runs waits, all searches go out as one call, and when all wait for replies, all
 * requests do, in the order of the tasks. So a batch holds the same requests whatever came in first, and an engine whose
 * replies depend on their batch gives the same ones again.
 */
import type { Chat, ChatReply, ChatRequest } from '../chat.ts';
import type { Hit, Retriever } from '../retriever.ts';
import { InfraError } from '../util/error.ts';
import { searchAll } from './search.ts';

export interface Lane {
  /** @throws InfraError when the request failed. */
  ask(request: ChatRequest): Promise<ChatReply>;
  /** @throws InfraError on an outage. */
  search(query: string): Promise<readonly Hit[]>;
}

export interface Services {
  readonly chat: Chat;
  readonly retriever: Retriever;
  /** Passages a search. */
  readonly topK: number;
  /** Serve what waits without waiting for the others: for models whose replies do not depend on their batch. */
  readonly eager: boolean;
}

interface Waiting<Q, A> {
  readonly wanted: Q;
  readonly answer: (answer: A) => void;
  readonly fail: (error: unknown) => void;
}
/** By task index. */
type Queue<Q, A> = Map<number, Waiting<Q, A>>;

/** What the tasks return, in their order. Throws what the first of them to fail threw, once all have ended. */
export async function lockstep<T>(
  tasks: readonly ((lane: Lane) => Promise<T>)[],
  { chat, retriever, topK, eager }: Services,
): Promise<T[]> {
  const asks: Queue<ChatRequest, ChatReply> = new Map();
  const searches: Queue<string, readonly Hit[]> = new Map();
  let running = tasks.length;
  let failure: { readonly error: unknown } | null = null;
  let scheduled = false;

  const find = async (queries: readonly string[]): Promise<(readonly Hit[] | InfraError)[]> => {
    const calls = queries.map((query) => ({ queries: [query] }));
    const outcomes = await searchAll(calls, retriever, topK);
    return outcomes.map((o) => ('error' in o ? new InfraError(o.error) : o.hits));
  };
  const reply = async (requests: readonly ChatRequest[]): Promise<(ChatReply | InfraError)[]> => {
    const replies = await chat.reply(requests);
    return replies.map((r) => (r.error === undefined ? r : new InfraError(r.error)));
  };
  const serve = (): void => {
    scheduled = false;
    if (!eager && asks.size + searches.size < running) return;
    const searching = searches.size > 0;
    if (searching) void serveAll(searches, find);
    if (eager || !searching) void serveAll(asks, reply);
  };
  /** Not at once: whoever goes on in this turn of the event loop may still want something. */
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(serve);
  };
  const wait = <Q, A>(queue: Queue<Q, A>, index: number, wanted: Q): Promise<A> =>
    new Promise((answer, fail) => {
      if (failure !== null) return fail(failure.error);
      if (asks.has(index) || searches.has(index)) return fail(new TypeError('a task wants one thing at a time'));
      queue.set(index, { wanted, answer, fail });
      schedule();
    });
  const run = async (task: (lane: Lane) => Promise<T>, index: number): Promise<T> => {
    try {
      return await task({
        ask: (request) => wait(asks, index, request),
        search: (query) => wait(searches, index, query),
      });
    } catch (error) {
      failure ??= { error };
      for (const { fail } of [...asks.values(), ...searches.values()]) fail(error);
      asks.clear();
      searches.clear();
      throw error;
    } finally {
      running--;
      schedule();
    }
  };
  const ended = await Promise.allSettled(tasks.map(run));
  return ended.map((end) => {
    if (end.status === 'fulfilled') return end.value;
    throw failure!.error;
  });
}

/** In the order of the tasks. What fails for all is thrown in all. */
async function serveAll<Q, A>(
  queue: Queue<Q, A>,
  work: (wanted: readonly Q[]) => Promise<readonly (A | InfraError)[]>,
): Promise<void> {
  const all = [...queue].sort(([a], [b]) => a - b).map(([, waiting]) => waiting);
  queue.clear();
  if (all.length === 0) return;
  try {
    const answers = await work(all.map(({ wanted }) => wanted));
    all.forEach(({ answer, fail }, i) => {
      const given = answers[i]!;
      if (given instanceof InfraError) fail(given);
      else answer(given);
    });
  } catch (error) {
    for (const { fail } of all) fail(error);
  }
}
