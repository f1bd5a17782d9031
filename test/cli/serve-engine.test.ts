/** The engine's server as a process: without a key it is for programs of this machine, with one for whoever has it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folder } from '../store/folder.ts';

const MAIN = ['--import', 'tsx', join(import.meta.dirname, '../../src/cli/main.ts')];

/** Its address, once it is ready. */
async function served(env: Readonly<Record<string, string>>): Promise<string> {
  const args = ['serve-engine', '--base', 'mini', '--dir', folder(), '--port', '0', '--workers', '1', '--json'];
  const child: ChildProcess = spawn(process.execPath, [...MAIN, ...args], { env: { ...process.env, ...env } });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  let out = '';
  child.stdout!.on('data', (chunk) => (out += chunk));
  while (!out.endsWith('}\n') && child.exitCode === null) await sleep(20);
  return JSON.parse(out).url;
}

function ask(url: string, headers: Readonly<Record<string, string>>): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/get_server_capabilities`, { headers }, async (reply) => {
      let text = '';
      for await (const chunk of reply) text += chunk;
      resolve({ status: reply.statusCode!, body: JSON.parse(text) });
    });
    sent.on('error', reject).end();
  });
}

describe('crossfold serve-engine', () => {
  it('without a key refuses names and pages of others', async () => {
    const url = await served({ TINKER_API_KEY: '' });
    expect((await ask(url, {})).status).toBe(200);
    expect(await ask(url, { host: 'evil.example' })).toEqual({
      status: 403,
      body: { detail: expect.stringContaining('was asked as "evil.example"') },
    });
    expect((await ask(url, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('with a key answers whoever has it', async () => {
    const url = await served({ TINKER_API_KEY: 'tml-secret' });
    const host = 'crossfold.example';
    expect((await ask(url, { host, 'x-api-key': 'tml-secret' })).status).toBe(200);
    expect((await ask(url, { host })).status).toBe(401);
  });
});
