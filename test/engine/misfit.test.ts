/** A tokenizer that is not the model's: the message shows the text and the sizes, and says which flag to look at. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { otherText, unknownHere, unknownThere } from '../../src/engine/misfit.ts';
import { scriptedTokenizer } from '../../src/engine/scripted.ts';
import type { Tokenizer } from '../../src/engine.ts';
import { UserError } from '../../src/util/error.ts';
import { request } from './fixture.ts';
import { openSite, reply, type Site } from './tinker-client-fixture.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
beforeEach(() => {
  site.hook = () => null;
});
afterAll(() => site.close());

/** Its words are code points. */
const tokenizer: Tokenizer = scriptedTokenizer([]);
const ids = (text: string): number[] => tokenizer.encode([text]);
const must = "--tokenizer must be the folder with the tokenizer.json of the server's model";

it('shows a token that the server does not know among its neighbours', () => {
  expect(unknownThere(ids('The river Oker is long'), 10, tokenizer, 360).message).toBe(
    `the server does not know token 79 (in brackets: "e river [O]ker is l"): the tokenizer has 1114112 tokens, the server's model 360; ${must}`,
  );
  expect(unknownThere(ids('\u001b['), 0, tokenizer, null).message).toBe(
    `the server does not know token 27 (in brackets: "[\\e]["): the tokenizer has 1114112 tokens; ${must}`,
  );
});

it('shows what a token follows that the tokenizer does not have', () => {
  expect(unknownHere(ids('in Lower'), [...ids(' S'), 2_000_000], tokenizer)!.message).toBe(
    `the server sampled token 2000000 after " Lower S", but the tokenizer has 1114112 tokens; ${must}`,
  );
  expect(unknownHere(ids('x'), ids('a reply'), tokenizer)).toBeNull();
});

it.each([
  ['Lower Saxony', 'Lower Saxony'],
  // Blanks that the server tidies up, a control token that it leaves out, parts of characters.
  ['a , b', ' a, b'],
  ['done<|end|>', 'done'],
  ['caf\ufffd', 'cafés'],
  ['', 'anything'],
  ['anything', ''],
])('%j is no other text than %j', (here, there) => {
  expect(otherText(ids(here), there, tokenizer)).toBeNull();
});

it('shows both texts where they differ', () => {
  expect(otherText(ids('qzx'), ' the river', tokenizer)!.message).toBe(
    `the server's reply is " the river", and its tokens are "qzx" by the tokenizer (1114112 tokens); ${must}`,
  );
});

it('a Tinker server of another vocabulary is told by its text, sampled and trained', async () => {
  const engine = await site.client();
  const prompt = [3, 4, ...ids('Oker')];
  const message = `the server does not know token 79 (in brackets: "\\u{3}\\u{4}[O]ker"): the tokenizer has 1114112 tokens, the server's model 24; ${must}`;
  const session = (await engine.policy('tiny')).open(1);
  const failure = await session.sample([request('k', prompt)], [0]).catch((error: unknown) => error);
  expect(failure).toEqual(new UserError(message));
  const client = await engine.train(engine.base);
  await expect(client.forward([{ tokens: [1, 2] }, { tokens: prompt }], 'cross_entropy')).rejects.toThrow(
    new UserError(message),
  );
});

it('a token that only the Tinker server has', async () => {
  const small: Tokenizer = { ...tokenizer, vocabSize: 12 };
  const engine = await site.client({ tokenizer: small });
  const base = await engine.policy('tiny');
  site.hook = async (call, real) => {
    if (call.path !== 'retrieve_future') return real();
    return reply(200, { sequences: [{ tokens: [11, 17], logprobs: [-1, -1], stop_reason: 'stop' }] });
  };
  await expect(base.open(1).sample([request('k', [2, 3])], [0])).rejects.toThrow(
    /sampled token 17 after "\\u\{2\}\\u\{3\}\\u\{b\}", but the tokenizer has 12 tokens; --tokenizer/,
  );
});

it.each([
  [
    'token id 79 is out of range',
    /does not know token 79 \(in brackets: "\[O\]k"\): the tokenizer has 1114112 tokens; /,
  ],
  ['Token ids must be below the vocab size (100)', /does not know token 107 \(in brackets: "O\[k\]"\).* model 100;/],
  ['temperature must be at most 2', /the server answered 400 \(temperature must be at most 2\)$/],
])('servers say it as "%s"', async (detail, message) => {
  const engine = await site.client();
  site.hook = (call) => (call.path === 'asample' ? reply(400, { detail }) : null);
  const base = await engine.policy('tiny');
  await expect(base.open(1).sample([request('k', ids('Ok'))], [0])).rejects.toThrow(message);
});
