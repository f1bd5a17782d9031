/**
 * The shared cases of the kinds that text/ and rollout/ answer for: every field of `expected` is checked (`drift_logged` as the
 * drift that reencodingDrift reports). They are read from ../shared when it is there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Dialect } from '../src/dialect.ts';
import { scriptedPolicy, scriptedTokenizer } from '../src/engine/scripted.ts';
import type { Policy, Tokenizer } from '../src/engine.ts';
import { scoredTokens } from '../src/method/mask.ts';
import type { Retriever } from '../src/retriever.ts';
import { converse, type Environment } from '../src/rollout/converse.ts';
import { flatten } from '../src/rollout/flatten.ts';
import { searchR1 } from '../src/text/dialect/search-r1.ts';
import { toolCall } from '../src/text/dialect/tool-call.ts';
import { diagnose, readGold, score } from '../src/text/score.ts';
import { decodeChunks } from '../src/text/stream.ts';
import { extendsTokens, reencodingDrift } from '../src/text/tokens.ts';
import { readArguments } from '../src/text/tool-call.ts';
import { type Message, transcriptAnswer } from '../src/text/transcript.ts';
import type { Finish, Turn } from '../src/types.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  // The fields differ from kind to kind; each checker below knows its own.
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON read by a test
  readonly input: any;
  readonly expected: Readonly<Record<string, unknown>>;
}

const FILE = new URL('../../shared/cases/cases.jsonl', import.meta.url);
const cases: readonly Case[] = existsSync(FILE)
  ? readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  : [];
if (cases.length === 0) console.log(`skipped: no shared cases at ${FILE.pathname}`);

/** What one conversation with this single reply does, given two turns: does the search run, is the model corrected? */
async function play(reply: string, cut: boolean, dialect: Dialect, passage = 'The tram opened in 1921.') {
  const asked: string[] = [];
  const tags = [...dialect.stop, '<think>'];
  const tokenizer = scriptedTokenizer(tags);
  let turn = 0;
  const script = () => (turn++ === 0 ? reply : '<answer>later</answer>');
  const retriever: Retriever = {
    fingerprint: 'one passage',
    search: async (queries) => {
      asked.push(...queries);
      return queries.map(() => [{ passage: { id: 'p1', source: 's1', title: 'Notes', text: passage }, score: 1 }]);
    },
  };
  const env: Environment = {
    policy: cutPolicy(scriptedPolicy('p', tokenizer, tags, script), cut),
    tokenizer,
    dialect,
    retriever,
    topK: 3,
    limits: { turns: 2, tokensPerTurn: 1000, contextLength: 10_000 },
    sampling: { temperature: 1, topP: 1 },
  };
  const [rollout] = await converse([{ prompt: ['Q'], question: 'Q', key: 'k' }], env);
  return { rollout: rollout!, asked, tokenizer };
}

/** Says that the first reply of a session was cut by the token limit. */
function cutPolicy(policy: Policy, cut: boolean): Policy {
  return {
    id: policy.id,
    open(size) {
      const session = policy.open(size);
      let turn = 0;
      return {
        async sample(requests, lane) {
          const out = await session.sample(requests, lane);
          return turn++ === 0 && cut ? out.map((c) => ({ ...c, finish: 'length' as const })) : out;
        },
        close: () => session.close(),
      };
    },
  };
}

async function parseTurnCase({ input, expected }: Case): Promise<Record<string, unknown>> {
  const finish: Finish = { reason: input.finish_reason, stopMatched: input.stop_matched ?? null };
  const thinkingOpen = input.renderer?.thinking_open_in_prompt === true;
  const dialect = searchR1({ thinkingOpen });
  const parsed = dialect.parse(input.text, finish, 'the question');
  const { rollout, asked } = await play(
    input.text + (finish.stopMatched ?? ''),
    finish.reason === 'length',
    searchR1({ thinkingOpen, stop: [] }),
  );
  const reply = rollout.turns[1]!;
  const after = rollout.turns[2];
  const { action } = parsed;
  return {
    thinking: parsed.thinking,
    action:
      action.type === 'search' || action.type === 'answer'
        ? { type: action.type, text: action.text }
        : action.type === 'invalid'
          ? { type: action.type, reason: action.reason }
          : action,
    format_ok: parsed.formatOk,
    violations: parsed.violations,
    truncated: parsed.truncated,
    discarded_tail: parsed.discardedTail,
    closed_by_stop: parsed.closedByStop,
    terminal: after === undefined,
    run_search: asked.length > 0,
    consumes_turn: rollout.turns.filter((turn) => turn.kind === 'reply').length === 2,
    feedback_to_model: after?.kind === 'search' && after.notice === 'invalid_action',
    query_sent_utf8: action.type === 'search' && asked[0] === action.text,
    loss: scoredTokens([reply], 'solver').some(Boolean) ? 'train' : 'mask',
    metric: parsed.violations.find((violation) => violation === expected.metric),
  };
}

async function parseTranscriptCase({ input }: Case): Promise<Record<string, unknown>> {
  const messages = input.messages as readonly Message[];
  const answer = transcriptAnswer(messages, searchR1());
  const evil = messages.find((message) => message.role === 'tool')!.content;
  const { rollout, tokenizer } = await play(messages[0]!.content, false, searchR1({ stop: [] }), evil);
  const shown = tokenizer.decode(rollout.turns[2]!.tokens);
  const { tokens, sampled } = flatten(rollout);
  const said = tokenizer.decode(tokens.filter((_, i) => sampled[i]));
  return {
    answer,
    em: score(answer ?? '', input.gold).em,
    observation_tags_escaped:
      shown.includes('Tartu') && !shown.includes('<answer>') && shown.split('</information>').length === 2,
    loss_on_tool_tokens: said !== '<search>Orrin Museum city</search><answer>later</answer>',
  };
}

function scoreCase({ input }: Case): Record<string, unknown> {
  const gold = readGold(input.gold);
  const scores = score(input.prediction, gold.aliases);
  const also = diagnose(input.prediction, gold.aliases);
  return {
    em: scores.em,
    cover_em: scores.coverEm,
    cover_em_token: scores.coverEmToken,
    yesno_first_token: also.yesnoFirstToken,
    em_unicode: also.emUnicode,
    cover_em_unicode: also.coverEmUnicode,
    date_equal: also.dateEqual,
    em_unguarded: also.emUnguarded,
    cover_em_char_unguarded: also.coverEmUnguarded,
    gold_used: gold.aliases,
    warning: gold.warning,
  };
}

const reply = (tokens: readonly number[]): Turn => ({
  kind: 'reply',
  tokens,
  logprobs: tokens.map(() => -1),
  finish: { reason: 'stop' },
  parsed: searchR1().parse('', { reason: 'stop' }, null),
});

async function tokensCase({ input }: Case): Promise<Record<string, unknown>> {
  if (input.vocab !== undefined) {
    const tokenizer = greedyTokenizer(input.vocab);
    const seen: string[] = [];
    const spied: Tokenizer = {
      ...tokenizer,
      encode(pieces) {
        seen.push(...pieces.map(String));
        return tokenizer.encode(pieces);
      },
    };
    const completion = { tokens: input.sampled_ids, logprobs: [-1, -1], finish: 'stop' as const };
    const policy: Policy = { id: 'p', open: () => ({ sample: async () => [completion], close: async () => {} }) };
    const env: Environment = {
      policy,
      tokenizer: spied,
      dialect: { ...searchR1({ stop: [] }), notice: () => [] },
      retriever: { fingerprint: 'none', search: async () => [] },
      topK: 1,
      limits: { turns: 2, tokensPerTurn: 2, contextLength: 10 },
      sampling: { temperature: 1, topP: 1 },
    };
    const [rollout] = await converse([{ prompt: [], question: 'q', key: 'k' }], env);
    expect(tokenizer.encode([input.decoded])).toEqual(input.reencoded);
    return {
      train_ids: rollout!.turns[1]!.tokens,
      reencode_allowed: seen.includes(input.decoded),
      drift_logged: reencodingDrift(tokenizer, input.sampled_ids) === 0,
    };
  }
  const { prompt_ids, sampled_ids } = input.turn1;
  const before: readonly number[] = [...prompt_ids, ...sampled_ids];
  const next: readonly number[] = input.turn2_prompt_from_engine;
  const flat = flatten({
    turns: [
      { kind: 'prompt', tokens: prompt_ids },
      reply(sampled_ids),
      { kind: 'search', tokens: next.slice(before.length), queries: [], passages: [] },
    ],
  });
  expect(next[before.length]).toBe(input.template_glue_after_turn[0]);
  expect(flat.tokens).toEqual(next);
  const mask = flat.tokens.map((token, i) => [token, Number(flat.sampled[i])] as const);
  return {
    prefix_property: extendsTokens(next, before),
    loss_mask: Object.fromEntries(mask.filter(([token]) => !prompt_ids.includes(token))),
  };
}

/** Longest match first. */
function greedyTokenizer(vocab: Readonly<Record<string, number>>): Tokenizer {
  const words = Object.keys(vocab).sort((a, b) => b.length - a.length);
  const spell = (id: number): string => words.find((word) => vocab[word] === id)!;
  const encodeText = (text: string): number[] => {
    const word = words.find((w) => text.startsWith(w));
    return word === undefined ? [] : [vocab[word]!, ...encodeText(text.slice(word.length))];
  };
  return {
    vocabSize: words.length + 1,
    encode: (pieces) => pieces.flatMap((piece) => (typeof piece === 'string' ? encodeText(piece) : [])),
    decode: (ids) => ids.map(spell).join(''),
    ends: (ids) =>
      ids.map(
        (_, i) =>
          ids
            .slice(0, i + 1)
            .map(spell)
            .join('').length,
      ),
    tag: () => 0,
  };
}

function streamCase({ input }: Case): Record<string, unknown> {
  const text = decodeChunks(input.chunks_hex.map((hex: string) => Buffer.from(hex, 'hex')));
  return { text, replacement_chars: text.split('\ufffd').length - 1 };
}

async function toolCallCase({ input }: Case): Promise<Record<string, unknown>> {
  const read = readArguments(input.arguments_raw);
  const cut = input.finish_reason === 'length';
  const call = `<tool_call>{"name": "search", "arguments": ${input.arguments_raw}${cut ? '' : '}</tool_call>'}`;
  const { rollout } = await play(call, cut, toolCall({ stop: [] }));
  return {
    ok: read.ok,
    query: read.ok ? read.queries[0] : undefined,
    repaired: read.ok ? read.repaired : undefined,
    error_to_model: read.ok ? undefined : read.error,
    rollout_continues: rollout.answer === 'later',
    metric: rollout.malformedCall ? 'malformed_call' : undefined,
  };
}

const CHECKS: Readonly<Record<string, (c: Case) => Record<string, unknown> | Promise<Record<string, unknown>>>> = {
  parse_turn: parseTurnCase,
  parse_transcript: parseTranscriptCase,
  score_pair: scoreCase,
  tokens: tokensCase,
  stream: streamCase,
  tool_call: toolCallCase,
};

describe.skipIf(cases.length === 0)('shared cases', () => {
  const mine = cases.filter((c) => c.kind in CHECKS);
  test('every kind has cases', () => {
    expect(new Set(mine.map((c) => c.kind)).size).toBe(Object.keys(CHECKS).length);
  });
  test.each(mine.map((c) => [`${c.id} ${c.kind}`, c] as const))('%s', async (_, c) => {
    const actual = await CHECKS[c.kind]!(c);
    const picked = Object.fromEntries(Object.keys(c.expected).map((field) => [field, actual[field]]));
    expect(picked).toEqual(c.expected);
  });
});
