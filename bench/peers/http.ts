/** Our index over HTTP: a server in a process of its own, asked one request at a time and 64 at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { type Measured, quantile } from './measured.ts';
import { TOP } from './subjects.ts';

const LONGEST = 5000;
const TOGETHER = 64;

export async function measureHttp(dir: string, queries: readonly string[]): Promise<Measured> {
  const script = fileURLToPath(new URL('server.ts', import.meta.url));
  const from = performance.now();
  const server = spawn(process.execPath, ['--import', 'tsx', script, join(dir, 'index')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(server.stdout), 'line')) as [string];
  const build = (performance.now() - from) / 1000;
  const { url, memory } = JSON.parse(line) as { url: string; memory: number };
  const dispatcher = new Agent({ connections: TOGETHER });
  const ask = async (query: string): Promise<number> => {
    const begun = performance.now();
    const body = JSON.stringify({ queries: [query], topk: TOP, return_scores: true });
    const headers = { 'content-type': 'application/json' };
    const reply = await request(`${url}/retrieve`, { method: 'POST', body, headers, dispatcher });
    if (reply.statusCode !== 200) throw new Error(`the server answered ${reply.statusCode}`);
    await reply.body.json();
    return performance.now() - begun;
  };
  /** `lanes` ask without a pause. */
  const load = async (lanes: number) => {
    const times: number[] = [];
    let next = 0;
    const start = performance.now();
    const lane = async (): Promise<void> => {
      while (next < 5 * queries.length && performance.now() - start < LONGEST)
        times.push(await ask(queries[next++ % queries.length]!));
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return { times, qps: (1000 * times.length) / (performance.now() - start) };
  };
  for (const query of queries.slice(0, TOGETHER)) await ask(query);
  const [single, many] = [await load(1), await load(TOGETHER)];
  server.stdin.end();
  await once(server, 'exit');
  await dispatcher.close();
  return {
    build,
    memory,
    p50: quantile(single.times, 0.5),
    p95: quantile(single.times, 0.95),
    qps1: single.qps,
    qps64: many.qps,
    top: [],
  };
}
