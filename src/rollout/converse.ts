/**
 * The multi-turn tool loop: a batch of conversations in lockstep over one sampling session. Tokens in, tokens out:
 * replies are decoded to be read, and nothing is ever encoded again.
 *
 *   turn = reply → parse → action
 *   search            the passages are appended and the conversation goes on; a repeated query, or one search too many, gets
 *                     a notice instead
 *   answer, propose   ends it
 *   anything else     costs the turn and gets a correction notice
 *
 * The last turn never searches. A search or a request that fails is data (`stop: 'error'`); an engine that fails whole is thrown.
 */
import type { Dialect } from '../dialect.ts';
import type { Completion, Policy, SampleRequest, SamplingSession, Tokenizer } from '../engine.ts';
import type { Retriever } from '../retriever.ts';
import { tokenRange } from '../text/tokens.ts';
import type { Piece, Rollout, StopReason, Turn } from '../types.ts';
import { type Outcome, type SearchCall, searchAll } from './search.ts';

export interface Environment {
  readonly policy: Policy;
  readonly tokenizer: Tokenizer;
  readonly dialect: Dialect;
  readonly retriever: Retriever;
  /** Passages per query. */
  readonly topK: number;
  readonly limits: {
    /** Assistant turns. */
    readonly turns: number;
    /** Searches that are executed; further calls get a notice. Absent: as many as there are turns for. */
    readonly searches?: number;
    readonly tokensPerTurn: number;
    /** Longest prompt + completion, in tokens. */
    readonly contextLength: number;
  };
  readonly sampling: { readonly temperature: number; readonly topP: number };
}

export interface Conversation {
  readonly prompt: readonly Piece[];
  /** The solver's question; null for the proposer. */
  readonly question: string | null;
  /** Names the random stream of the conversation. */
  readonly key: string;
}

/** One conversation under way. `tokens` is what the policy has seen and said so far: the turns' tokens, joined. */
interface Lane {
  readonly index: number;
  readonly conversation: Conversation;
  readonly tokens: number[];
  readonly turns: Turn[];
  /** Queries that were executed. */
  readonly asked: Set<string>;
  searches: number;
  malformedCall: boolean;
  answer: string | null;
  question: string | null;
  stop: StopReason | null;
  error: string | null;
}

type Reply = Extract<Turn, { kind: 'reply' }>;

/** Rollouts in the order of `batch`. Equal prompts are legal; equal (key, prompt) pairs give equal rollouts. */
export async function converse(batch: readonly Conversation[], env: Environment): Promise<Rollout[]> {
  if (batch.length === 0) return [];
  const lanes = batch.map((conversation, index) => openLane(conversation, index, env.tokenizer));
  const session = env.policy.open(batch.length);
  try {
    for (let turn = 0; turn < env.limits.turns; turn++) {
      const active = lanes.filter((lane) => lane.stop === null && !stopIfFull(lane, env));
      if (active.length === 0) break;
      const completions = await sampleTurn(active, turn, session, env);
      const last = turn === env.limits.turns - 1;
      const calls = active.flatMap((lane, i) => takeCompletion(lane, completions[i]!, last, env) ?? []);
      const outcomes = await searchAll(calls, env.retriever, env.topK);
      for (const [i, { lane }] of calls.entries()) takeOutcome(lane, outcomes[i]!, env);
    }
  } finally {
    await session.close();
  }
  return lanes.map(close);
}

function openLane(conversation: Conversation, index: number, tokenizer: Tokenizer): Lane {
  const tokens = tokenizer.encode(conversation.prompt);
  return {
    index,
    conversation,
    tokens: [...tokens],
    turns: [{ kind: 'prompt', tokens }],
    asked: new Set(),
    searches: 0,
    malformedCall: false,
    answer: null,
    question: null,
    stop: null,
    error: null,
  };
}

/** Stops a lane that cannot hold one more whole turn after `more` further tokens; says whether it did. */
function stopIfFull(lane: Lane, { limits }: Environment, more = 0): boolean {
  if (lane.tokens.length + more + limits.tokensPerTurn <= limits.contextLength) return false;
  lane.stop = 'token-limit';
  return true;
}

async function sampleTurn(
  active: readonly Lane[],
  turn: number,
  session: SamplingSession,
  env: Environment,
): Promise<readonly Completion[]> {
  const stop = env.dialect.stop.map((name) => env.tokenizer.tag(name));
  const requests = active.map(
    (lane): SampleRequest => ({
      prompt: [...lane.tokens],
      maxTokens: env.limits.tokensPerTurn,
      temperature: env.sampling.temperature,
      topP: env.sampling.topP,
      stop,
      key: `${lane.conversation.key}/t${turn}`,
    }),
  );
  return session.sample(
    requests,
    active.map((lane) => lane.index),
  );
}

function takeCompletion(lane: Lane, completion: Completion, last: boolean, env: Environment) {
  if (completion.error === undefined)
    return takeReply(lane, readReply(completion, lane.conversation.question, env), last, env);
  lane.stop = 'error';
  lane.error = completion.error;
  return null;
}

/** Where a tail was discarded, its tokens leave too: what stays is what a stop string would have left. */
function readReply(completion: Completion, question: string | null, { tokenizer, dialect }: Environment): Reply {
  const { finish, stopMatched } = completion;
  const parsed = dialect.parse(
    tokenizer.decode(completion.tokens),
    { reason: finish, ...(stopMatched === undefined ? {} : { stopMatched }) },
    question,
  );
  const ends = tokenizer.ends(completion.tokens);
  const { action, kept } = parsed;
  const count = kept === undefined ? ends.length : tokenRange(ends, 0, kept).end;
  const cut = count < ends.length;
  const range = action.type === 'answer' ? action.range : action.type === 'propose' ? action.answerRange : null;
  return {
    kind: 'reply',
    tokens: completion.tokens.slice(0, count),
    logprobs: completion.logprobs.slice(0, count),
    finish: { reason: cut ? 'stop' : finish },
    parsed: cut ? { ...parsed, truncated: false } : parsed,
    ...(range === null ? {} : { answerTokens: tokenRange(ends, range.start, range.end) }),
  };
}

/** Appends the reply and acts on it; returns the search it asks for, if that is to be run. */
function takeReply(lane: Lane, reply: Reply, last: boolean, env: Environment): (SearchCall & { lane: Lane }) | null {
  append(lane, reply);
  const { action, violations, truncated } = reply.parsed;
  if (violations.includes('malformed_call') || violations.includes('empty_query')) lane.malformedCall = true;
  switch (action.type) {
    case 'answer':
      lane.answer = action.text;
      lane.stop = 'answer';
      return null;
    case 'propose':
      lane.question = action.question;
      lane.answer = action.answer;
      lane.stop = 'answer';
      return null;
    case 'search': {
      if (last) {
        lane.stop = 'turn-limit';
        return null;
      }
      if (lane.searches >= (env.limits.searches ?? Number.POSITIVE_INFINITY)) {
        notify(lane, 'search_limit', action.queries, env);
        return null;
      }
      const queries = [...new Set(action.queries)].filter((query) => !lane.asked.has(sameQuery(query)));
      if (queries.length > 0) return { lane, queries };
      notify(lane, 'repeated_query', action.queries, env);
      return null;
    }
    case 'invalid':
    case 'none':
      if (last) lane.stop = truncated ? 'token-limit' : 'malformed';
      else notify(lane, 'invalid_action', [], env);
      return null;
    default:
      action satisfies never;
      throw new Error('unreachable');
  }
}

const sameQuery = (query: string): string => query.toLowerCase().replace(/\s+/g, ' ').trim();

function notify(
  lane: Lane,
  notice: NonNullable<Extract<Turn, { kind: 'search' }>['notice']>,
  queries: readonly string[],
  env: Environment,
): void {
  const tokens = observed(lane, env.dialect.notice(notice, lane.conversation.question), env);
  if (!stopIfFull(lane, env, tokens.length)) append(lane, { kind: 'search', tokens, queries, passages: [], notice });
}

/** What the environment says next. The end of the turn that a reply lacks is among it: the policy never sampled that token. */
function observed(lane: Lane, pieces: readonly Piece[], { tokenizer, dialect }: Environment): readonly number[] {
  const tokens = tokenizer.encode(pieces);
  if (dialect.endOfTurn === undefined) return tokens;
  const end = tokenizer.tag(dialect.endOfTurn);
  return lane.tokens.at(-1) === end ? tokens : [end, ...tokens];
}

function takeOutcome(lane: Lane, outcome: Outcome, env: Environment): void {
  if ('error' in outcome) {
    lane.stop = 'error';
    lane.error = outcome.error;
    return;
  }
  const { queries, hits } = outcome;
  lane.searches++;
  for (const query of queries) lane.asked.add(sameQuery(query));
  const tokens = observed(lane, env.dialect.searchResult(hits, lane.conversation.question), env);
  const passages = hits.map((hit) => hit.passage.id);
  if (!stopIfFull(lane, env, tokens.length)) append(lane, { kind: 'search', tokens, queries, passages });
}

/** One by one: a spread of a long prompt can overflow the call stack. */
function append(lane: Lane, turn: Turn): void {
  lane.turns.push(turn);
  for (const token of turn.tokens) lane.tokens.push(token);
}

function close(lane: Lane): Rollout {
  return {
    turns: lane.turns,
    stop: lane.stop ?? 'turn-limit',
    answer: lane.answer,
    question: lane.question,
    searches: lane.searches,
    malformedCall: lane.malformedCall,
    ...(lane.error === null ? {} : { error: lane.error }),
  };
}
