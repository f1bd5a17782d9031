/** A model that replies by script, a search that finds passages named after the query, and what both were told. */
import type { Chat, ChatRequest } from '../../src/chat.ts';
import type { Hit, Retriever } from '../../src/retriever.ts';
import { prompted } from '../../src/strategy/prompted.ts';
import type { Attempt, Budget, Procedure } from '../../src/strategy.ts';

export const BUDGET: Budget = { turns: 5, topK: 3, maxTokens: 200 };

export const hit = (id: string, text = `about ${id}`): Hit => ({
  passage: { id, source: id, title: id, text },
  score: 1,
});

export interface Reply {
  readonly text: string;
  readonly finish?: 'stop' | 'length';
  readonly error?: string;
}

export interface Played {
  readonly attempt: Attempt;
  readonly requests: readonly ChatRequest[];
  readonly queries: readonly string[];
  /** What the model was told last, per request. */
  readonly prompts: readonly string[];
}

/** One question; the replies are given in order. */
export async function play(
  procedure: Procedure,
  replies: readonly (string | Reply)[],
  {
    found = (query: string): readonly Hit[] => [hit(query)],
    budget = BUDGET,
    contextLength = 100_000,
    question = 'Who wrote it?',
  } = {},
): Promise<Played> {
  const requests: ChatRequest[] = [];
  const queries: string[] = [];
  const chat: Chat = {
    name: 'script',
    reply: async (asked) =>
      asked.map((request) => {
        const given = replies[requests.length] ?? 'nothing more';
        requests.push(request);
        const reply: Reply = typeof given === 'string' ? { text: given } : given;
        return { finish: 'stop', usage: { prompt: 1, completion: 1 }, ...reply };
      }),
  };
  const retriever: Retriever = {
    fingerprint: 'namesake',
    async search(asked) {
      queries.push(...asked);
      return asked.map(found);
    },
  };
  const strategy = prompted('under test', procedure, { chat, retriever, budget, contextLength, eager: false });
  const [attempt] = await strategy.answer([{ id: 'q1', question }]);
  return { attempt: attempt!, requests, queries, prompts: requests.map((r) => r.messages.at(-1)!.content) };
}
