/**
 * A prompted strategy over any Chat: runs its procedure for a batch of questions in lockstep, writes down everything that was
 * said and found, and finds the answer in the reply that the procedure returns.
 */
import type { Chat } from '../chat.ts';
import type { Retriever } from '../retriever.ts';
import { type Lane, lockstep } from '../rollout/lockstep.ts';
import type { Asked, Attempt, AttemptTurn, Budget, Procedure, Strategy, ToolReply, Tools } from '../strategy.ts';
import { numberedPassages } from '../text/passages.ts';
import { answerOf } from '../text/prompt/answer.ts';
import { InfraError } from '../util/error.ts';

export interface PromptedSettings {
  readonly chat: Chat;
  readonly retriever: Retriever;
  readonly budget: Budget;
  /** Longest prompt and reply of the model, in tokens. */
  readonly contextLength: number;
  /** The model's replies do not depend on what else is asked at the time. */
  readonly eager: boolean;
}

/** A longer query says no more: search servers refuse those without end. */
const LONGEST_QUERY = 1000;
/** Instructions and question take about as many tokens, and a word about two. */
const FRAME_TOKENS = 200;
const TOKENS_PER_WORD = 2;

export function prompted(name: string, procedure: Procedure, settings: PromptedSettings): Strategy {
  const { chat, retriever, budget, contextLength, eager } = settings;
  const room = contextLength - budget.maxTokens - FRAME_TOKENS;
  const evidenceWords = Math.max(0, Math.floor(room / TOKENS_PER_WORD));
  return {
    name,
    answer: (questions) =>
      lockstep(
        questions.map((asked) => (lane) => attempt(asked, procedure, lane, { budget, evidenceWords })),
        { chat, retriever, topK: budget.topK, eager },
      ),
  };
}

async function attempt(
  { id, question }: Asked,
  procedure: Procedure,
  lane: Lane,
  limits: Pick<Tools, 'budget' | 'evidenceWords'>,
): Promise<Attempt> {
  const turns: AttemptTurn[] = [];
  let searches = 0;
  let emptySearches = 0;
  let emptyReplies = 0;
  let calls = 0;
  const tools: Tools = {
    ...limits,
    async ask({ messages, maxTokens = limits.budget.maxTokens, stop }) {
      const conversation = messages.map(
        (content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }) as const,
      );
      turns.push({ kind: 'prompt', text: messages.at(-1)! });
      const { text, finish } = await lane.ask({
        messages: conversation,
        maxTokens: Math.min(maxTokens, limits.budget.maxTokens),
        temperature: 0,
        ...(stop === undefined ? {} : { stop }),
        key: `${id}/${calls++}`,
      });
      turns.push({ kind: 'reply', text });
      if (text.trim() === '') emptyReplies++;
      return { text, finish };
    },
    async search(query) {
      const hits = await lane.search(query.slice(0, LONGEST_QUERY));
      searches++;
      if (hits.length === 0) emptySearches++;
      turns.push({ kind: 'search', text: `${query}\n\n${numberedPassages(hits)}` });
      return hits;
    },
  };
  const counted = () => ({
    searches,
    ...(emptySearches === 0 ? {} : { emptySearches }),
    ...(emptyReplies === 0 ? {} : { emptyReplies }),
  });
  try {
    return { ...read(await procedure(question, tools)), ...counted(), turns };
  } catch (error) {
    if (!(error instanceof InfraError)) throw error;
    return { prediction: null, ...counted(), stop: 'error', error: error.message, turns };
  }
}

function read({ text, finish }: ToolReply): Pick<Attempt, 'prediction' | 'stop'> {
  const prediction = answerOf(text, finish);
  if (prediction !== null) return { prediction, stop: 'answer' };
  return { prediction, stop: finish === 'length' ? 'token-limit' : 'malformed' };
}
