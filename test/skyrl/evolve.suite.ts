/** The loop on SkyRL through the command line: the same settings as on the local engine but for --engine. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { engineName } from './engine.ts';
import { POLICY } from './setup.ts';

const skyrl = inject('skyrl');
const ROOT = resolve(import.meta.dirname, '../..');
/** Two rounds, each phase once or twice. */
const SETTINGS =
  '--systems dr-zero,crossfit --rounds 2 --seed 3 --world-seed 5 --gold-per-hop 2 --sources 10 --proposer-steps 1 ' +
  '--prompts 4 --admitted 6 --solver-steps 2 --questions 2 --aux-budget 1 --responses 3 --warmup-steps 1';

describe.skipIf('missing' in skyrl)('the loop on SkyRL', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crossfold-skyrl-run-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const compare = async (name: string, ...engine: string[]) => {
    const args = ['src/cli/main.ts', 'compare', ...SETTINGS.split(' '), '--run', join(folder, name), '--json'];
    const all = ['--import', 'tsx', ...args, ...engine];
    const { stdout } = await promisify(execFile)(process.execPath, all, { cwd: ROOT, maxBuffer: 2 ** 26 });
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  it('evolves dr-zero and crossfit for two rounds', async () => {
    if ('missing' in skyrl) return;
    const engine = ['--engine', engineName(skyrl.url), '--base', skyrl.base, '--tokenizer', POLICY];
    const remote = await compare('remote', ...engine);
    console.log(JSON.stringify(remote).slice(0, 3000));
    const local = await compare('local', '--policy', 'mini');
    console.log(JSON.stringify(local).slice(0, 3000));
    expect(Object.keys(remote)).toEqual(Object.keys(local));
  });
});
