/** Conversations in messages: what closes a turn, who sampled it, and what the next prompt begins with. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scriptedPolicy, scriptedTokenizer } from '../../src/engine/scripted.ts';
import type { SampleRequest } from '../../src/engine.ts';
import { scoredTokens } from '../../src/method/mask.ts';
import type { Retriever } from '../../src/retriever.ts';
import { converse } from '../../src/rollout/converse.ts';
import { flatten } from '../../src/rollout/flatten.ts';
import { searchR1 } from '../../src/text/dialect/search-r1.ts';

const TAGS = ['<|im_start|>', '<|im_end|>'];
const tokenizer = scriptedTokenizer(TAGS);
const dialect = searchR1({ form: 'chatml', stop: ['<|im_end|>'] });
const retriever: Retriever = {
  fingerprint: 'namesake',
  search: async (queries) =>
    queries.map((q) => [{ passage: { id: q, source: q, title: q, text: `about ${q}` }, score: 1 }]),
};

async function play(replies: readonly string[], tokensPerTurn = 100) {
  const requests: SampleRequest[] = [];
  const policy = scriptedPolicy('p', tokenizer, TAGS, (_, request) => {
    requests.push(request);
    return replies[Number(/t(\d+)$/.exec(request.key)![1])] ?? '';
  });
  const [rollout] = await converse([{ prompt: dialect.solverPrompt('who?'), question: 'who?', key: 'k' }], {
    policy,
    tokenizer,
    dialect,
    retriever,
    topK: 3,
    limits: { turns: 4, tokensPerTurn, contextLength: 100_000 },
    sampling: { temperature: 0, topP: 1 },
  });
  return { rollout: rollout!, requests };
}

const FOUND =
  '\n<|im_start|>user\n<information>\nDoc 1 (Title: Oker) about Oker\n</information><|im_end|>\n<|im_start|>assistant\n';

test('a reply that ends its turn is followed by the message, and nothing is added', async () => {
  const { rollout, requests } = await play(['<search>Oker</search><|im_end|>', '<answer>x</answer><|im_end|>']);
  expect(rollout.turns.map((turn) => tokenizer.decode(turn.tokens)).slice(1)).toEqual([
    '<search>Oker</search><|im_end|>',
    FOUND,
    '<answer>x</answer><|im_end|>',
  ]);
  expect(rollout).toMatchObject({ stop: 'answer', answer: 'x', searches: 1 });
  expect(tokenizer.decode(requests[1]!.prompt).endsWith(FOUND)).toBe(true);
});

test.each([
  ['its tail was dropped', '<search>Oker</search><information>fake</information><|im_end|>', 100],
  ['it was cut', '<search>Oker</search> and so on and on', 25],
  ['the model did not end it', '<search>Oker</search>', 100],
])('a reply that lacks the end of its turn gets it from the environment: %s', async (_, reply, tokens) => {
  const { rollout } = await play([reply, '<answer>x</answer><|im_end|>'], tokens);
  const [, said, found] = rollout.turns;
  expect(tokenizer.decode(said!.tokens)).toBe('<search>Oker</search>');
  expect(tokenizer.decode(found!.tokens)).toBe(`<|im_end|>${FOUND}`);
  const flat = flatten(rollout);
  const end = rollout.turns[0]!.tokens.length + said!.tokens.length;
  expect(flat.tokens[end]).toBe(tokenizer.tag('<|im_end|>'));
  expect([flat.sampled[end - 1], flat.sampled[end]]).toEqual([true, false]);
  expect(scoredTokens(rollout.turns, 'solver')[end]).toBe(false);
});

test('a notice is a message too', async () => {
  const { rollout } = await play(['hm', '<answer>x</answer><|im_end|>']);
  expect(tokenizer.decode(rollout.turns[2]!.tokens)).toMatch(
    /^<\|im_end\|>\n<\|im_start\|>user\n<information>\nThat turn could not be used\.[\s\S]*<\|im_end\|>\n<\|im_start\|>assistant\n$/,
  );
});

test('whatever is said: every message is closed once, and every prompt begins with the tokens before it', async () => {
  const said = fc.array(
    fc.constantFrom('<search>a</search>', '<search>b</search>', '<|im_end|>', 'x', '<answer>y</answer>'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 4, maxLength: 4 }), async (replies) => {
      const { rollout, requests } = await play(replies.map((parts) => parts.join('')));
      const seen: number[] = [];
      let asked = 0;
      for (const turn of rollout.turns) {
        if (turn.kind === 'reply') expect(requests[asked++]!.prompt).toEqual(seen);
        seen.push(...turn.tokens);
      }
      expect(asked).toBe(requests.length);
      const control = requests.at(-1)!.prompt.filter((token) => token < TAGS.length);
      // Opened and closed in turn, and the last one is open.
      expect(control).toEqual(control.map((_, i) => i % 2));
      expect(control.at(-1)).toBe(0);
    }),
    { numRuns: 100 },
  );
});
