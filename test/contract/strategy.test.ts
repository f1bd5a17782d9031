/** What every Strategy does. A new one is a row of STRATEGIES and is tested here without a change. */
import { describe, expect, it } from 'vitest';
import { type Script, scriptedEngine } from '../../src/engine/scripted.ts';
import type { Retriever } from '../../src/retriever.ts';
import { chatOf } from '../../src/rollout/chat.ts';
import { openStrategy, STRATEGIES } from '../../src/strategy/open.ts';
import type { Strategy } from '../../src/strategy.ts';
import { dialectFor } from '../../src/text/dialect/fit.ts';
import { InfraError } from '../../src/util/error.ts';

const VOCABULARIES = { chatml: ['<|im_start|>', '<|im_end|>'], plain: [] } as const;

const namesake: Retriever = {
  fingerprint: 'namesake',
  search: async (queries) =>
    queries.map((q) => [{ passage: { id: q, source: q, title: q, text: `about ${q}` }, score: 1 }]),
};
const down: Retriever = {
  fingerprint: 'down',
  search: async () => {
    throw new InfraError('search answered 503');
  },
};

const questions = ['Oker', 'Aller', 'Leine'].map((name) => ({ id: `id-${name}`, question: `Which river is ${name}?` }));

/** Answers with the river of the last question it sees; searches once before that where it is told how. */
const honest: Script = (prompt) => {
  const name = [...prompt.matchAll(/Which river is (\w+)\?/g)].at(-1)?.[1];
  const searched = /<information>\nDoc|<begin_search_result> /.test(prompt.replace(/^[\s\S]*?Question:/, ''));
  if (prompt.includes('write one query as <search>') && !searched)
    return `<think>hm</think><search>${name}</search><|im_end|>`;
  if (prompt.includes('<begin_search_query> query') && !searched) return `hm <begin_search_query>${name}`;
  return `<think>hm</think><answer>the ${name}</answer><|im_end|>`;
};

function open(
  name: (typeof STRATEGIES)[number],
  script: Script,
  retriever: Retriever,
  vocabulary: keyof typeof VOCABULARIES,
) {
  const engine = scriptedEngine({ script, tags: VOCABULARIES[vocabulary] });
  return (async (): Promise<Strategy> => {
    const policy = await engine.policy('base');
    return openStrategy(name, {
      policy,
      chat: chatOf(engine, policy),
      tokenizer: engine.tokenizer,
      contextLength: engine.contextLength,
      dialect: dialectFor(engine.tokenizer, 'search-r1'),
      retriever,
      budget: { turns: 4, topK: 2, maxTokens: 300 },
      eager: false,
    });
  })();
}

describe.each(STRATEGIES.flatMap((name) => (['chatml', 'plain'] as const).map((form) => ({ name, form }))))(
  'strategy contract: $name, $form',
  ({ name, form }) => {
    it('gives one attempt a question, in their order, with everything that was said', async () => {
      const strategy = await open(name, honest, namesake, form);
      expect(strategy.name).toBe(name);
      const attempts = await strategy.answer(questions);
      expect(attempts.map(({ prediction, stop }) => [prediction, stop])).toEqual([
        ['the Oker', 'answer'],
        ['the Aller', 'answer'],
        ['the Leine', 'answer'],
      ]);
      for (const [i, { turns, searches }] of attempts.entries()) {
        expect(turns[0]!.text).toContain(name === 'rag' || name === 'ircot' ? 'about' : questions[i]!.question);
        expect(turns.at(-1)).toMatchObject({ kind: 'reply' });
        expect(turns.at(-1)!.text).toContain('<answer>the ');
        expect(turns.filter(({ kind }) => kind === 'search').length).toBe(searches);
        expect(searches).toBe({ direct: 0, cot: 0, rag: 1, ircot: 2, 'search-o1': 1, search: 1 }[name]);
      }
    });

    it('treats each question as if it were alone', async () => {
      const strategy = await open(name, honest, namesake, form);
      const together = await strategy.answer(questions);
      for (const [i, question] of questions.entries()) expect(await strategy.answer([question])).toEqual([together[i]]);
      expect(await strategy.answer([])).toEqual([]);
    });

    it('ends within its budget whatever the model says', async () => {
      for (const text of ['', 'no', '<search>x</search>', '<begin_search_query>x', '<answer></answer>']) {
        let n = 0;
        const strategy = await open(name, () => text.replace('x', `x${n++}`), namesake, form);
        const [attempt] = await strategy.answer([questions[0]!]);
        expect(attempt!.prediction).toBeNull();
        expect(['malformed', 'turn-limit', 'token-limit']).toContain(attempt!.stop);
        expect(attempt!.searches).toBeLessThanOrEqual(3);
      }
    });

    it('reports an outage of the search as an error, and answers where none was needed', async () => {
      const strategy = await open(name, honest, down, form);
      const attempts = await strategy.answer(questions);
      const needsSearch = name !== 'direct' && name !== 'cot';
      for (const { prediction, stop, error } of attempts) {
        if (needsSearch) expect([prediction, stop, error]).toEqual([null, 'error', 'search answered 503']);
        else expect([stop, error]).toEqual(['answer', undefined]);
      }
    });

    it('reports a failed request of the model as an error', async () => {
      const engine = scriptedEngine({ script: honest, tags: VOCABULARIES[form] });
      const inner = await engine.policy('base');
      const failing = {
        id: 'base',
        open: (size: number) => {
          const session = inner.open(size);
          return {
            ...session,
            sample: async (...[requests, lanes]: Parameters<typeof session.sample>) =>
              (await session.sample(requests, lanes)).map((completion, i) =>
                engine.tokenizer.decode(requests[i]!.prompt).includes('Aller')
                  ? { ...completion, tokens: [], logprobs: [], error: 'model answered 500' }
                  : completion,
              ),
          };
        },
      };
      const strategy = openStrategy(name, {
        policy: failing,
        chat: chatOf(engine, failing),
        tokenizer: engine.tokenizer,
        contextLength: engine.contextLength,
        dialect: dialectFor(engine.tokenizer, 'search-r1'),
        retriever: namesake,
        budget: { turns: 4, topK: 2, maxTokens: 300 },
        eager: true,
      });
      const attempts = await strategy.answer(questions);
      expect(attempts.map(({ prediction, stop, error }) => [prediction, stop, error])).toEqual([
        ['the Oker', 'answer', undefined],
        [null, 'error', 'model answered 500'],
        ['the Leine', 'answer', undefined],
      ]);
    });
  },
);
