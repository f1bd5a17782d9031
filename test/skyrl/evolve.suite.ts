/** The loop on SkyRL through the command line: the same settings as on the local engine but for --engine. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { StepRecord } from '../../src/record.ts';
import { engineName } from './engine.ts';
import { POLICY } from './setup.ts';

const skyrl = inject('skyrl');
const ROOT = resolve(import.meta.dirname, '../..');
/** Two rounds, each phase once or twice. */
const SETTINGS =
  '--systems dr-zero,crossfit --rounds 2 --seed 3 --world-seed 5 --gold-per-hop 2 --sources 10 --proposer-steps 1 ' +
  '--prompts 4 --admitted 6 --solver-steps 2 --questions 2 --aux-budget 1 --responses 3 --warmup-steps 1';

interface Told {
  readonly done: boolean;
  readonly rounds: readonly { readonly system: string; readonly round: number }[];
  readonly setup: { readonly engine: string };
}

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
    const { done, rounds, setup } = JSON.parse(stdout) as Told;
    return { done, engine: setup.engine, rounds: rounds.map(({ system, round }) => `${system} ${round}`) };
  };

  it('evolves dr-zero and crossfit for two rounds', async () => {
    if ('missing' in skyrl) return;
    const engine = ['--engine', engineName(skyrl.url), '--base', skyrl.base, '--tokenizer', POLICY];
    const remote = await compare('remote', ...engine);
    const local = await compare('local', '--policy', 'mini');
    expect(remote.engine).toContain('skyrl-jax');
    expect(local.engine).toContain('local/');
    expect(remote).toEqual({ ...local, engine: remote.engine });
    expect(remote).toMatchObject({ done: true, rounds: ['dr-zero 1', 'dr-zero 2', 'crossfit 1', 'crossfit 2'] });
  });

  it('trained every role there, on what it had sampled', async () => {
    const lines = (await readFile(join(folder, 'remote/journal.jsonl'), 'utf8')).trim().split('\n');
    const values = lines.map((line) => (JSON.parse(line) as { value: StepRecord | { kind: '' } }).value);
    const steps = values.flatMap((value) => (value.kind === 'step' ? [value] : []));
    expect(new Set(steps.map(({ phase }) => phase))).toEqual(new Set(['proposer', 'solver', 'auxiliary']));
    const trained = steps.filter(({ update }) => update.trained > 0);
    expect(trained.length).toBeGreaterThan(0);
    for (const { before, after, update } of trained) {
      expect(after.policy).toMatch(/^tinker:\/\/model_\w+\/weights\//);
      expect(after.policy).not.toBe(before.policy);
      expect(update.gradNorm).toBeGreaterThan(0);
      expect(Math.abs(update.klSamplerTrainer)).toBeLessThan(1e-3);
    }
    const gaps = trained.map(({ update }) => Math.abs(update.klSamplerTrainer));
    console.log(`${trained.length} of ${steps.length} steps trained; sampler and trainer within ${Math.max(...gaps)}`);
  });
});
