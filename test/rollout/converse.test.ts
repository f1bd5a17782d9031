import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Script, scriptedPolicy, scriptedTokenizer } from '../../src/engine/scripted.ts';
import type { Policy, SampleRequest } from '../../src/engine.ts';
import type { Hit, Retriever } from '../../src/retriever.ts';
import { type Conversation, converse, type Environment } from '../../src/rollout/converse.ts';
import { flatten } from '../../src/rollout/flatten.ts';
import { attempts } from '../../src/rollout/group.ts';
import { searchR1 } from '../../src/text/dialect/search-r1.ts';
import type { Rollout, Turn } from '../../src/types.ts';
import { InfraError } from '../../src/util/error.ts';

const END = '<|im_end|>';
const TAGS = [END, '<search>'];
const tokenizer = scriptedTokenizer(TAGS);

/** Finds one passage a query, named after it; `calls` are the queries of each call. */
function namesake(): Retriever & { readonly calls: (readonly string[])[] } {
  const calls: (readonly string[])[] = [];
  const find = (query: string): readonly Hit[] => [
    { passage: { id: `p:${query}`, source: query, title: query, text: `about ${query}` }, score: 1 },
  ];
  return {
    fingerprint: 'namesake',
    calls,
    async search(queries) {
      calls.push(queries);
      return queries.map(find);
    },
  };
}

/** A policy that records its requests and whether its session was closed. */
function watched(script: Script): { readonly policy: Policy; readonly requests: SampleRequest[]; closed: number } {
  const inner = scriptedPolicy('p', tokenizer, TAGS, script);
  const state = {
    requests: [] as SampleRequest[],
    closed: 0,
    policy: {
      id: 'p',
      open(size: number) {
        const session = inner.open(size);
        return {
          async sample(requests: readonly SampleRequest[], lane: readonly number[]) {
            expect(lane.length).toBe(requests.length);
            state.requests.push(...requests);
            return session.sample(requests, lane);
          },
          async close() {
            state.closed++;
          },
        };
      },
    },
  };
  return state;
}

function environment(policy: Policy, retriever: Retriever, limits: Partial<Environment['limits']> = {}): Environment {
  return {
    policy,
    tokenizer,
    dialect: { ...searchR1({ stop: [END] }), solverPrompt: (question) => [`Q: ${question}\n`] },
    retriever,
    topK: 3,
    limits: { turns: 4, tokensPerTurn: 200, contextLength: 10_000, ...limits },
    sampling: { temperature: 0.8, topP: 0.95 },
  };
}

const ask = (question: string, key = 'k'): Conversation => ({ prompt: [`Q: ${question}\n`], question, key });
const propose: Conversation = { prompt: ['write'], question: null, key: 'k' };

/** Plays the replies in order, one a turn (counted in the key of the request). */
const replay =
  (...replies: readonly string[]): Script =>
  (_, request) =>
    replies[Number(/t(\d+)$/.exec(request.key)![1])] ?? 'nothing';

async function play(
  replies: readonly string[],
  conversation = ask('who?'),
  limits: Partial<Environment['limits']> = {},
) {
  const retriever = namesake();
  const watch = watched(replay(...replies));
  const [rollout] = await converse([conversation], environment(watch.policy, retriever, limits));
  return { rollout: rollout!, retriever, ...watch };
}

const shape = (rollout: Rollout): string[] =>
  rollout.turns.map((turn) => (turn.kind === 'search' ? (turn.notice ?? `found ${turn.passages.join()}`) : turn.kind));
const textOf = (turn: Turn): string => tokenizer.decode(turn.tokens);

describe('one conversation', () => {
  test('searches, reads and answers', async () => {
    const { rollout, retriever } = await play([`<search>Oker</search>${END}`, `<answer> A river </answer>${END}`]);
    expect(shape(rollout)).toEqual(['prompt', 'reply', 'found p:Oker', 'reply']);
    expect(rollout).toMatchObject({
      stop: 'answer',
      answer: 'A river',
      question: null,
      searches: 1,
      malformedCall: false,
    });
    expect(textOf(rollout.turns[2]!)).toBe('\n\n<information>\nDoc 1 (Title: Oker) about Oker\n</information>\n\n');
    expect(retriever.calls).toEqual([['Oker']]);
    const last = rollout.turns[3]!;
    if (last.kind !== 'reply') throw new Error('expected a reply');
    const { start, end } = last.answerTokens!;
    expect(tokenizer.decode(last.tokens.slice(start, end))).toBe('A river');
    const flat = flatten(rollout);
    expect(tokenizer.decode(flat.tokens.slice(flat.answerTokens!.start, flat.answerTokens!.end))).toBe('A river');
  });

  test('a proposal ends it with question and answer', async () => {
    const { rollout } = await play([`<question>Which river?</question><answer>Oker</answer>`], propose);
    expect(rollout).toMatchObject({ stop: 'answer', question: 'Which river?', answer: 'Oker' });
    const flat = flatten(rollout);
    expect(tokenizer.decode(flat.tokens.slice(flat.answerTokens!.start, flat.answerTokens!.end))).toBe('Oker');
  });

  test('a repeated query gets a notice, whatever its case and spacing', async () => {
    const { rollout, retriever } = await play([
      '<search>Oker</search>',
      '<search> oker </search>',
      '<search>Aller</search>',
      '<answer>x</answer>',
    ]);
    expect(shape(rollout).filter((s) => s !== 'reply')).toEqual([
      'prompt',
      'found p:Oker',
      'repeated_query',
      'found p:Aller',
    ]);
    expect(retriever.calls).toEqual([['Oker'], ['Aller']]);
    expect(rollout.searches).toBe(2);
  });

  test('an invalid turn costs a turn and is corrected', async () => {
    const { rollout } = await play(['<span>x</span>', '<search> </search>', '<answer>x</answer>']);
    expect(shape(rollout)).toEqual(['prompt', 'reply', 'invalid_action', 'reply', 'invalid_action', 'reply']);
    expect(rollout).toMatchObject({ stop: 'answer', searches: 0, malformedCall: true });
  });

  test('the last turn does not search', async () => {
    const { rollout, retriever } = await play(['<search>a</search>', '<search>b</search>'], ask('q'), { turns: 2 });
    expect(shape(rollout)).toEqual(['prompt', 'reply', 'found p:a', 'reply']);
    expect(rollout).toMatchObject({ stop: 'turn-limit', answer: null, searches: 1 });
    expect(retriever.calls).toEqual([['a']]);
  });

  test('what ends a conversation without an answer is told apart', async () => {
    const malformed = await play(['nothing'], ask('q'), { turns: 1 });
    expect(malformed.rollout.stop).toBe('malformed');
    const cut = await play(['a very long thought'], ask('q'), { turns: 1, tokensPerTurn: 5 });
    expect(cut.rollout).toMatchObject({ stop: 'token-limit', answer: null });
    expect(cut.rollout.turns[1]).toMatchObject({ finish: { reason: 'length' }, parsed: { truncated: true } });
  });

  test('a prompt or a result that leaves no room for a turn stops at the token limit', async () => {
    const long = await play(['<answer>x</answer>'], ask('q'), { tokensPerTurn: 20, contextLength: 24 });
    expect([long.rollout.stop, shape(long.rollout), long.requests.length]).toEqual(['token-limit', ['prompt'], 0]);
    const full = await play(['<search>Oker</search>'], ask('q'), { tokensPerTurn: 30, contextLength: 100 });
    expect([full.rollout.stop, shape(full.rollout)]).toEqual(['token-limit', ['prompt', 'reply']]);
    // 5 prompt tokens, 14 of the reply (its first tag is one token), the result, 30 for a turn: exactly enough.
    const result = '\n\n<information>\nDoc 1 (Title: Oker) about Oker\n</information>\n\n';
    const enough = 5 + 14 + result.length + 30;
    const replies = ['<search>Oker</search>', '<answer>x</answer>'];
    const fits = await play(replies, ask('q'), { tokensPerTurn: 30, contextLength: enough });
    expect(fits.rollout.stop).toBe('answer');
    const short = await play(replies, ask('q'), { tokensPerTurn: 30, contextLength: enough - 1 });
    expect(short.rollout).toMatchObject({ stop: 'token-limit', searches: 1 });
  });

  test('the tokens of a discarded tail leave the rollout', async () => {
    const { rollout, requests } = await play([
      `<search>Oker</search>\n<information>fake</information>${END}`,
      '<answer>x</answer>',
    ]);
    const reply = rollout.turns[1]!;
    expect(textOf(reply)).toBe('<search>Oker</search>');
    expect(reply).toMatchObject({ finish: { reason: 'stop' }, parsed: { formatOk: false, discardedTail: true } });
    expect(tokenizer.decode(requests[1]!.prompt)).not.toContain('fake');
  });
});

describe('a batch', () => {
  test('is searched in one call a turn, each query once, and keeps its order', async () => {
    const retriever = namesake();
    const script: Script = (prompt) => {
      const name = /Q: (\w+)/.exec(prompt)![1]!;
      return prompt.includes('about') || name === 'now' ? `<answer>${name}</answer>` : `<search>${name}</search>`;
    };
    const { policy, requests } = watched(script);
    const batch = [ask('a', 'k0'), ask('now', 'k1'), ask('b', 'k2'), ask('a', 'k3')];
    const rollouts = await converse(batch, environment(policy, retriever));
    expect(rollouts.map((r) => r.answer)).toEqual(['a', 'now', 'b', 'a']);
    expect(retriever.calls).toEqual([['a', 'b']]);
    expect(requests.map((r) => r.key)).toEqual(['k0/t0', 'k1/t0', 'k2/t0', 'k3/t0', 'k0/t1', 'k2/t1', 'k3/t1']);
    expect(requests[0]).toMatchObject({ temperature: 0.8, topP: 0.95, maxTokens: 200, stop: [0] });
  });

  test('an outage ends the conversations that searched, and only those', async () => {
    const down: Retriever = {
      fingerprint: 'down',
      search: async () => {
        throw new InfraError('search server answered 429');
      },
    };
    const script: Script = (prompt) => (prompt.includes('easy') ? '<answer>x</answer>' : '<search>x</search>');
    const watch = watched(script);
    const [hard, easy] = await converse([ask('hard'), ask('easy')], environment(watch.policy, down));
    expect(hard).toMatchObject({ stop: 'error', error: 'search server answered 429', answer: null, searches: 0 });
    expect(easy).toMatchObject({ stop: 'answer' });
    expect(watch.closed).toBe(1);
  });

  test('a failing engine and a bug of the retriever are thrown, and the session is closed', async () => {
    const broken = watched(() => {
      throw new InfraError('engine is gone');
    });
    await expect(converse([ask('q')], environment(broken.policy, namesake()))).rejects.toThrow('engine is gone');
    expect(broken.closed).toBe(1);
    const buggy: Retriever = { fingerprint: 'bug', search: () => Promise.reject(new TypeError('a bug')) };
    const searching = watched(() => '<search>x</search>');
    await expect(converse([ask('q')], environment(searching.policy, buggy))).rejects.toThrow('a bug');
    expect(searching.closed).toBe(1);
  });

  test('an empty batch opens nothing', async () => {
    const policy: Policy = {
      id: 'p',
      open: () => {
        throw new Error('opened');
      },
    };
    expect(await converse([], environment(policy, namesake()))).toEqual([]);
  });
});

test('attempts of a task share its prompt, differ in key, and stay together', async () => {
  const { policy, requests } = watched((prompt, { key }) =>
    key.startsWith('b/1') ? 'junk' : `<answer>${prompt}${key}</answer>`,
  );
  const groups = await attempts([ask('x', 'a'), ask('y', 'b')], 2, environment(policy, namesake(), { turns: 1 }));
  expect(groups.map((rollouts) => rollouts.map((r) => r.answer ?? r.stop))).toEqual([
    ['Q: x\na/0/t0', 'Q: x\na/1/t0'],
    ['Q: y\nb/0/t0', 'malformed'],
  ]);
  expect(requests[0]!.prompt).toEqual(requests[1]!.prompt);
});

test('whatever the policy says: tokens in, tokens out', async () => {
  const said = fc.oneof(
    fc.constantFrom(
      '<search>a</search>',
      '<search>b</search> tail',
      '<answer>x</answer>',
      '<think>',
      '<search>',
      '',
      END,
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const scripts = fc.array(fc.array(said, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(scripts, fc.integer({ min: 60, max: 700 }), async (replies, contextLength) => {
      const watch = watched((_, { key }) => {
        const [, lane, turn] = /^(\d+)\/t(\d+)$/.exec(key)!;
        return replies[Number(lane)]![Number(turn)]!;
      });
      const batch = replies.map((_, i) => ask('same', String(i)));
      const env = environment(watch.policy, namesake(), { tokensPerTurn: 25, contextLength });
      const rollouts = await converse(batch, env);
      rollouts.forEach((rollout, i) => {
        const mine = watch.requests.filter((request) => request.key.startsWith(`${i}/`));
        const seen: number[] = [];
        let replyCount = 0;
        for (const turn of rollout.turns) {
          if (turn.kind === 'reply') {
            expect(mine[replyCount++]!.prompt).toEqual(seen);
            expect(turn.logprobs).toEqual(turn.tokens.map((token) => -(1 + (token % 7)) / 8));
          }
          seen.push(...turn.tokens);
        }
        expect(replyCount).toBe(mine.length);
        expect(replyCount).toBeLessThanOrEqual(4);
        expect(seen.length).toBeLessThanOrEqual(contextLength);
        const flat = flatten(rollout);
        expect(flat.tokens).toEqual(seen);
        const tool = rollout.turns.filter((t) => t.kind !== 'reply').reduce((n, t) => n + t.tokens.length, 0);
        expect(flat.sampled.filter((s) => !s).length).toBe(tool);
        expect(flat.logprobs.every((lp, at) => flat.sampled[at] === lp < 0)).toBe(true);
      });
      // No conversation is touched by its neighbours.
      const alone = await converse([batch[0]!], env);
      expect(alone[0]).toEqual(rollouts[0]);
    }),
    { numRuns: 60 },
  );
});
