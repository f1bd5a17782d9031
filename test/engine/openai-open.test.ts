/** `--engine`: engines by what a user calls them. */
import { afterEach, expect, it, vi } from 'vitest';
import { memoryBlobs } from '../../src/cli/memory-blobs.ts';
import { type EngineOptions, openEngine } from '../../src/recipe/open-engine.ts';
import { UserError } from '../../src/util/error.ts';
import { type FakeServer, fakeServer } from './openai-server.ts';

const open: FakeServer[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const opened = (spec: string, over: Partial<EngineOptions> = {}) =>
  openEngine(spec, { blobs: memoryBlobs(), workers: 1, ...over });

it('local: a shipped policy', async () => {
  const engine = await opened('local', { policy: 'mini' });
  expect(engine.fingerprint).toMatch(/^local\//);
  await engine.close();
});

it('openai: a server, its context in tokens of about four characters', async () => {
  const fake = await fakeServer();
  open.push(fake);
  const engine = await opened(`openai:${fake.url}`, { model: 'm', api: 'completions', contextLength: 100, seed: 3 });
  expect(engine.fingerprint).toBe('openai/m/completions/other/seed=3');
  expect(engine.contextLength).toBe(400);
  await engine.close();
});

it.each([
  ['local:here', {}, /takes its model by --policy/],
  ['local', { policy: 'nowhere' }, /neither a shipped policy/],
  ['openai', { model: 'm' }, /names no server/],
  ['openai:http://127.0.0.1:1', {}, /needs --model/],
  ['openai:http://127.0.0.1:1', { model: 'm', tokenizer: '/nowhere' }, /nowhere\/tokenizer.json does not exist/],
  ['vllm', {}, /--engine is "vllm"; expected local .* or openai:URL/],
  ['tinker:http://127.0.0.1:1', { words: { model: '--model' } }, /tinker:\S+ needs --model, what the server/],
  ['toString', {}, /--engine is "toString"/],
] as const)('%s is refused where it cannot be', async (spec, over, message) => {
  await expect(opened(spec, over)).rejects.toThrow(message);
});

it('a server whose context does not hold one word is told in its lengths, and a key that it repeats is not', async () => {
  const long = "This model's maximum context length is 128 tokens. However, your messages resulted in 999 tokens.";
  const narrow = await fakeServer({
    instead: () => ({ status: 400, body: { error: { message: long, code: 'context_length_exceeded' } } }),
  });
  open.push(narrow);
  const opening = opened(`openai:${narrow.url}`, { model: 'm' });
  await expect(opening).rejects.toThrow(UserError);
  await expect(opening).rejects.toThrow("a prompt of 999 tokens does not fit the model's 128 tokens");
  const chatty = await fakeServer({
    instead: () => ({ status: 401, body: { error: { message: 'bad header Bearer sk-SECRET' } } }),
  });
  open.push(chatty);
  vi.stubEnv('OPENAI_API_KEY', 'sk-SECRET');
  const refused = await opened(`openai:${chatty.url}`, { model: 'm' }).catch((error: Error) => error.message);
  vi.unstubAllEnvs();
  expect(refused).toContain('bad header Bearer ***');
  expect(refused).not.toContain('sk-SECRET');
});
