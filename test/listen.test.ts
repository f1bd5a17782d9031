/** Who a server without a key answers: programs of this machine, and no page of another site. */
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Listening, listenOn } from '../src/util/listen.ts';
import { isLoopback } from '../src/util/loopback.ts';

const open: Listening[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close(0);
});

/** @param keyed a server that asks for a key itself. */
async function serve(host = '127.0.0.1', keyed = false): Promise<Listening> {
  const refuse = keyed ? undefined : (error: string) => Response.json({ error }, { status: 403 });
  const listening = await listenOn(() => new Response('here'), { host, port: 0 }, 60_000, refuse);
  open.push(listening);
  return listening;
}

function ask({ url }: Listening, headers: Readonly<Record<string, string>>, method = 'POST') {
  const { port } = new URL(url);
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, headers }, async (reply) => {
      let text = '';
      for await (const chunk of reply) text += chunk;
      resolve({ status: reply.statusCode!, text });
    });
    sent.on('error', reject).end(method === 'POST' ? '{"queries": ["x"]}' : undefined);
  });
}

describe('a server that only this machine reaches', () => {
  it.each([
    'localhost',
    'localhost:8001',
    'LocalHost:1',
    '127.0.0.1',
    '127.0.0.1:8001',
    '127.9.8.7:8001',
    '[::1]:8001',
    '[::1]',
  ])('answers as %s', async (host) => {
    expect(await ask(await serve(), { host })).toEqual({ status: 200, text: 'here' });
  });

  it.each([
    'evil.example',
    'evil.example:8001',
    'localhost.evil.example',
    '127.0.0.1.evil.example:8001',
    '127.evil.example',
    '192.168.0.7:8001',
    '0.0.0.0:8001',
    '[2001:db8::1]:8001',
  ])('refuses as %s', async (host) => {
    const { status, text } = await ask(await serve(), { host });
    expect(status).toBe(403);
    expect(JSON.parse(text)).toEqual({
      error: `this server answers to localhost and 127.0.0.1 alone, and was asked as "${host}"; to let others in, start it with --host`,
    });
  });

  it.each(['http://evil.example', 'https://localhost.evil.example', 'null', 'file://', 'nonsense'])(
    'refuses a page of %s, whatever it asks',
    async (origin) => {
      const listening = await serve();
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, text } = await ask(listening, { host: '127.0.0.1:8001', origin }, method);
        expect([status, text]).toEqual([403, expect.stringContaining(`was asked by \\"${origin}\\"`)]);
      }
    },
  );

  it.each(['http://localhost:3000', 'http://127.0.0.1:8001', 'http://[::1]:5173'])(
    'answers a page of %s',
    async (origin) => {
      expect((await ask(await serve(), { host: 'localhost:8001', origin })).status).toBe(200);
    },
  );
});

it.each([
  ['0.0.0.0', false],
  ['127.0.0.1', true],
])('a server on %s (with a key: %s) answers by any name', async (host, keyed) => {
  const listening = await serve(host, keyed);
  expect(listening.local).toBe(host === '127.0.0.1');
  const headers = { host: 'crossfold.example:8001', origin: 'https://evil.example' };
  expect((await ask(listening, headers)).status).toBe(200);
});

it('knows the addresses of this machine alone', () => {
  expect(['127.0.0.1', '::1', '[::1]', '::ffff:127.0.0.1', 'localhost'].filter(isLoopback)).toHaveLength(5);
  expect(['', '::', '127.1', '1127.0.0.1', '::ffff:10.0.0.1', 'localhost4', 'xlocalhost'].filter(isLoopback)).toEqual(
    [],
  );
});
