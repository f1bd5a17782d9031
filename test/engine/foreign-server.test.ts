/** Servers that are none of those we talk to: every client says so in one plain line, and soon. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openOpenAIEngine } from '../../src/engine/openai/openai.ts';
import { scriptedTokenizer } from '../../src/engine/scripted.ts';
import { openTinkerEngine } from '../../src/engine/tinker/client/client.ts';
import { serverEncoder } from '../../src/retriever/dense/server-encoder.ts';
import { openHttpRetriever } from '../../src/retriever/http/open.ts';
import { UserError } from '../../src/util/error.ts';

const PAGE = `<!DOCTYPE html>
<html><head><title>Acme router</title><style>body{color:red}</style></head>
<body><h1>Please&nbsp;sign in</h1><p>now \u001b[31m</p>${'<p>more</p>'.repeat(500)}</body></html>`;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const one of open.splice(0)) await one.close();
});

/** Answers everything alike. */
async function site(status: number, body = PAGE, type = 'text/html; charset=utf-8'): Promise<string> {
  const server = createServer((request, reply) => {
    request.resume();
    reply.writeHead(status, { 'content-type': type, ...(status === 302 ? { location: '/login' } : {}) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const retry = { retries: 1, firstMs: 1, longestMs: 1 };
const times = { patienceMs: 50, pauseMs: 1 };
const CLIENTS: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
  ['tinker', (url) => openTinkerEngine({ url, base: 'tiny', tokenizer: scriptedTokenizer([]), times })],
  ['openai', (url) => openOpenAIEngine({ url, model: 'm', retry })],
  ['search', (url) => openHttpRetriever({ url, retry, sleep: async () => {} })],
  ['encoder', (url) => serverEncoder({ url: `${url}/v1`, model: 'm', retry })],
];

describe.each(CLIENTS)('%s', (name, connect) => {
  it.each([200, 302, 404, 405, 502])('a page with status %d', async (status) => {
    const failure = await connect(await site(status)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    const { message } = failure as Error;
    expect(message).toContain(
      '(text/html: Acme router Please sign in now \\e[31m more'.slice(name === 'encoder' ? 1 : 0),
    );
    expect(message).toMatch(/^[^\p{Cc}]{1,400}$/u);
    expect(message).not.toMatch(/<|color:red/);
  });
});

it('a Tinker client tells an address that is wrong from a server that is down', async () => {
  const connect = (url: string) => CLIENTS[0]![1](url);
  const wrong = connect(await site(404, '{"detail": "Not Found"}', 'application/json'));
  await expect(wrong).rejects.toBeInstanceOf(UserError);
  await expect(wrong).rejects.toThrow(/is no Tinker server: \/api\/v1\/healthz answered 404 \(Not Found\); check its/);
  await expect(connect(await site(503, 'busy', 'text/plain'))).rejects.toThrow(
    /answered 503 \(busy\); is the server up/,
  );
});

it('a key that a server repeats is never shown, not even its beginning', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-secret-0123456789');
  const url = await site(401, `${'x'.repeat(290)}sk-secret-0123456789`, 'text/plain');
  const failure = (await openOpenAIEngine({ url, model: 'm', retry }).catch((error: unknown) => error)) as Error;
  expect(failure.message).toContain('answered 401');
  expect(failure.message).not.toContain('sk-');
});
