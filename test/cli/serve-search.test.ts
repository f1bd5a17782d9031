import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { openRetriever } from '../../src/recipe/open-retriever.ts';
import { buildIndex } from '../../src/retriever/index/build.ts';
import { UserError } from '../../src/util/error.ts';
import { towns } from '../retriever/wire.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

const MAIN = ['--import', 'tsx', join(import.meta.dirname, '../../src/cli/main.ts')];

/** An index of `texts` by title. */
async function indexFolder(texts: readonly (readonly [title: string, text: string])[]): Promise<string> {
  const dir = folder();
  const file = join(dir, 'docs.jsonl');
  writeFileSync(file, texts.map(([title, text]) => JSON.stringify({ id: title, title, text })).join('\n'));
  const out = join(dir, 'docs.idx');
  await buildIndex({ inputs: [file], out, version: '1', command: 'test' });
  return out;
}

const townIndex = (): Promise<string> => indexFolder(towns.map(({ title, text }) => [title, text]));

async function runWith(args: readonly string[]) {
  const { terminal, out, err } = recorded();
  return { code: await runProgram(args, terminal), out: out(), err: err() };
}

const run = (...args: string[]) => runWith(['serve-search', ...args]);

/** The command in a process of its own, once it has printed a whole JSON object. */
async function served(...args: string[]) {
  const child: ChildProcess = spawn(process.execPath, [...MAIN, 'serve-search', '--port', '0', '--json', ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let out = '';
  let err = '';
  child.stdout!.on('data', (chunk) => (out += chunk));
  child.stderr!.on('data', (chunk) => (err += chunk));
  while (!out.endsWith('}\n') && child.exitCode === null) await sleep(20);
  return { child, exit, said: out === '' ? null : JSON.parse(out), err: () => err };
}

describe('crossfold serve-search', () => {
  it('serves an index until it is told to stop, and searches over HTTP find what searches in the folder find', async () => {
    const dir = await townIndex();
    const { child, exit, said, err } = await served('--index', dir, '--topk', '2');
    const local = await openRetriever(dir);
    const remote = await openRetriever(said.url);
    expect(said).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      index: local.fingerprint,
      passages: 5,
    });
    expect(remote.fingerprint).toBe(local.fingerprint);
    const queries = ['a city in Poland', '東京', 'Oker', 'nowhere to be found'];
    const ids = (lists: Awaited<ReturnType<typeof local.search>>) =>
      lists.map((hits) => hits.map(({ passage: { id, title, text }, score }) => ({ id, title, text, score })));
    expect(ids(await remote.search(queries, 3))).toEqual(ids(await local.search(queries, 3)));
    const asked = (index: string) => runWith(['search', 'a city in Poland', '--index', index, '-k', '2']);
    expect(await asked(said.url)).toEqual(await asked(dir));
    expect((await asked(said.url)).out).toMatch(/^1 {2}\d\.\d+ {2}Łódź/);
    const bare = await fetch(`${said.url}/retrieve`, { method: 'POST', body: '{"queries": ["city"]}' });
    expect(((await bare.json()) as { result: unknown[][] }).result[0]).toHaveLength(2);
    await Promise.all([local.close(), remote.close()]);
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    expect(err()).toBe('');
  });

  it('says nothing of clients that hang up, and counts them', async () => {
    const { child, exit, said, err } = await served('--index', await townIndex());
    const { port } = new URL(said.url);
    const hangUp = async (sent: string, end: (socket: Socket) => void): Promise<void> => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      socket.write(`POST /retrieve HTTP/1.1\r\nHost: localhost\r\n${sent}`);
      await sleep(50);
      end(socket);
    };
    const many = JSON.stringify({ queries: Array.from({ length: 400 }, (_, i) => `city ${i} Oker`) });
    for (const end of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.resetAndDestroy()]) {
      await hangUp('Content-Length: 100\r\n\r\n{"queries"', end);
      await hangUp('Transfer-Encoding: chunked\r\n\r\n5\r\n{"que\r\n', end);
      await hangUp(`Content-Length: ${many.length}\r\n\r\n${many}`, end);
      await hangUp('Content-Le', end);
    }
    const counted = async (): Promise<string> => (await fetch(`${said.url}/metrics`)).text();
    await expect.poll(counted, { timeout: 5000 }).toMatch(/requests_total\{status="499"\} [4-6]$/m);
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    expect(err()).toBe('');
  });

  it('refuses an index that finds one passage whatever is asked', async () => {
    // Copies of one text: whichever is asked for, the first is found.
    const dir = await indexFolder(['.', '!', '?', ';'].map((end) => [`Notice${end}`, `The museum is closed${end}`]));
    const { code, err } = await run('--index', dir, '--port', '0');
    expect(code).toBe(2);
    expect(err).toMatch(
      /^crossfold: the index is broken: \d different probe queries all return the same passage[^\n]*\n$/,
    );
  });

  it.each([
    [['--index', 'nowhere.idx', '--port', '0'], 'nowhere.idx: no such folder'],
    [['--index', 'http://127.0.0.1:1', '--port', '0'], '--index is the address of a server, and only a folder'],
    [['--index', 'x', '--port', '65536'], '--port is "65536"; expected a whole number from 0 to 65535'],
    [['--index', 'x', '--port', '-1'], '--port is "-1"'],
    [['--index', 'x', '--topk', '1001'], '--topk is "1001"; expected a whole number from 1 to 1000'],
    [['--index', 'x', '--queue', '0'], '--queue is "0"; expected a whole number, at least 1'],
    [['--index', 'x', '--mode', 'words'], 'Allowed choices are bm25, dense, hybrid'],
    [['--index', 'x', '--host', '203.0.113.7', '--port', '0'], '--host is "203.0.113.7"'],
    [[], `required option '--index <dir>' not specified; see "crossfold serve-search --help"`],
  ])('%j is one line and exit code 2', async (args, message) => {
    const { code, out, err } = await run(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).toMatch(/^crossfold: [^\n]*\n$/);
  });

  it('says that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, err } = await run('--index', 'x', '--port', String(port));
    expect([code, err]).toEqual([
      2,
      `crossfold: port ${port} on 127.0.0.1 is in use; stop what listens there or give another --port\n`,
    ]);
  });

  it('has help with examples', async () => {
    const { code, out } = await run('--help');
    expect(code).toBe(0);
    expect(out).toMatch(/Examples:\n {2}crossfold serve-search --index/);
  });
});

describe('what is searched in', () => {
  it('by the search command is named in one line where it cannot be', async () => {
    const other = createHttpServer((_, reply) => reply.writeHead(404).end()).listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    for (const [args, message] of [
      [[url], `${url}/retrieve answered 404`],
      [[url, '--mode', 'bm25'], `--mode is "bm25", but ${url} is a server`],
      [['http://'], 'search server is "http://"; expected an address like http://127.0.0.1:8000'],
    ] as const) {
      const { code, out, err } = await runWith(['search', 'x', '--index', ...args]);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(message);
      expect(err).toMatch(/^crossfold: [^\n]*\n$/);
    }
  });

  it('a server takes neither mode nor encoder', async () => {
    await expect(openRetriever('http://127.0.0.1:1', { mode: 'bm25' })).rejects.toThrow(
      new UserError('--mode is "bm25", but http://127.0.0.1:1 is a server and searches its own way; leave it out'),
    );
  });

  it('vectors that an index does not have are asked for in vain', async () => {
    await expect(openRetriever(await townIndex(), { mode: 'dense' })).rejects.toThrow(/the index has no vectors/);
  });
});
