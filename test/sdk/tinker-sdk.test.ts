/** `crossfold serve-engine` as a process of its own: what it says, how it stops, and the official SDK against it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sdkPython } from './sdk.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FOLDER = mkdtempSync(path.join(tmpdir(), 'crossfold-serve-engine-'));
const SCRIPT = path.join(import.meta.dirname, 'tinker_client.py');

function serve(...more: string[]): ChildProcess {
  const args = [
    '--import',
    'tsx',
    'src/cli/main.ts',
    'serve-engine',
    '--base',
    'mini',
    '--port',
    '0',
    '--json',
    ...more,
  ];
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  delete env.TINKER_API_KEY;
  return spawn(process.execPath, [...args, '--dir', FOLDER], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const part of stream) text += String(part);
  return text;
}

let server: ChildProcess;
let url: string;
beforeAll(async () => {
  server = serve();
  let said = '';
  for await (const part of server.stdout!) {
    said += String(part);
    if (said.trimEnd().endsWith('}')) break;
  }
  ({ url } = JSON.parse(said) as { url: string });
});
afterAll(() => {
  server.kill('SIGKILL');
  rmSync(FOLDER, { recursive: true, force: true });
});

describe('serve-engine', () => {
  it('serves its base model', async () => {
    const reply = await fetch(`${url}/api/v1/get_server_capabilities`);
    expect(await reply.json()).toMatchObject({ supported_models: [{ model_name: 'mini', max_context_length: 320 }] });
  });

  it('takes bodies of unknown length', async () => {
    const body = new Blob(['{"tags": []}']).stream();
    const headers = { 'content-type': 'application/json' };
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, headers, duplex: 'half' };
    const reply = await fetch(`${url}/api/v1/create_session`, init);
    expect(await reply.json()).toMatchObject({ type: 'create_session' });
  });

  it('shares its folder with nobody', async () => {
    const second = serve();
    const said = textOf(second.stderr!);
    const [code] = await once(second, 'exit');
    expect(code).toBe(2);
    expect(await said).toContain('has been writing here');
  });

  it('does what the official SDK asks of it, and loss falls', async ({ skip }) => {
    const sdk = await sdkPython();
    if ('missing' in sdk) {
      console.warn(`Skipped: ${sdk.missing}`);
      return skip(sdk.missing);
    }
    const env = { ...process.env, TINKER_BASE_URL: url, TINKER_API_KEY: 'tml-local', TINKER_TELEMETRY: '0' };
    const { stdout } = await promisify(execFile)(sdk.python, [SCRIPT, 'mini'], { env, timeout: 40_000 }).catch(
      (error) => {
        throw new Error(`${error.message}\n${error.stdout}`);
      },
    );
    const steps = stdout.split('\n').map((line) => line.split(':')[0]);
    expect(steps.slice(0, 7)).toEqual([
      'capabilities',
      'create_model',
      'cross_entropy',
      'sample',
      'importance_sampling',
      'ppo',
      'cispo',
    ]);
    expect(steps.slice(7, -1)).toEqual(['save', 'load', 'delete', 'refused', 'ALL DONE with tinker 0.38.0']);
  }, 90_000);

  it('stops when it is told to', async () => {
    server.kill('SIGINT');
    const [code] = await once(server, 'exit');
    expect(code).toBe(0);
  });
});
