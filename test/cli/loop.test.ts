/** The whole loop through the command line, on a world so small that it takes seconds. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { recorded } from './terminal.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const SMALL = [
  ...['--rounds', '2', '--sources', '20', '--proposer-steps', '1', '--prompts', '6', '--admitted', '6'],
  ...['--solver-steps', '1', '--questions', '3', '--aux-budget', '1', '--gold-per-hop', '2', '--workers', '1'],
];

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command; `heard` sees stderr as it grows. */
function crossfold(args: readonly string[], heard: (err: string, child: ChildProcess) => void = () => {}) {
  return new Promise<Ended>((resolve) => {
    const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
      heard(err, child);
    });
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

describe('evolve on the command line', () => {
  const dir = mkdtempSync(join(tmpdir(), 'crossfold-'));
  const run = join(dir, 'run');
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  let interrupted: Ended;
  let continued: Ended;

  beforeAll(async () => {
    const args = ['evolve', '--system', 'crossfit', '--run', run, ...SMALL];
    let asked = false;
    interrupted = await crossfold(args, (err, child) => {
      if (asked || !err.includes('New run')) return;
      asked = true;
      // Twice at once, as npm does it: still one request to stop.
      child.kill('SIGINT');
      child.kill('SIGINT');
    });
    continued = await crossfold(args);
  });

  it('stops at the next step when asked, with exit code 130', () => {
    expect(interrupted.code).toBe(130);
    expect(interrupted.out).toBe('');
    expect(interrupted.err).toContain('Stopping after this step; what is finished is kept.');
    expect(interrupted.err).toContain('crossfold: stopped; run the same command again to go on\n');
  });

  it('goes on when run again, prints the tables and what to try next', () => {
    expect(continued.code).toBe(0);
    expect(continued.err).toContain(`Continuing ${run} after `);
    expect(continued.err).toMatch(/crossfit {2}round 2\/2 {2}solver 1\/1 {2}reward \d\.\d\d/);
    expect(continued.out).toContain('T_P');
    expect(continued.out).toContain(`Report: ${join(run, 'report.html')}`);
    expect(continued.out).toContain(`--run ${run}`);
    expect(`${continued.out}${continued.err}`).not.toContain('\u001b');
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });

  it('is one JSON object with --json, and the same audit again', async () => {
    const { terminal, out, err } = recorded(true);
    const code = await runProgram(['evolve', '--run', run, '--json', ...SMALL], terminal);
    // A commit made since the run began is warned of.
    expect([code, err().replace(/^Warning: .*\n/, '')]).toEqual([0, '']);
    const report = JSON.parse(out()) as { done: boolean; html: string; rounds: { round: number; system: string }[] };
    expect(report.done).toBe(true);
    expect(existsSync(report.html)).toBe(true);
    expect(report.rounds.map(({ round, system }) => [round, system])).toEqual([
      [1, 'crossfit'],
      [2, 'crossfit'],
    ]);
    const audit = recorded();
    expect(await runProgram(['audit', run, '--json'], audit.terminal)).toBe(0);
    expect(JSON.parse(audit.out())).toEqual(report);
  });

  it('refuses to go on with other settings', async () => {
    const { terminal, err } = recorded();
    expect(await runProgram(['evolve', '--run', run, ...SMALL, '--seed', '2'], terminal)).toBe(2);
    expect(err()).toContain('holds another run (seed: 1 there, 2 now');
  });

  it('shows the tables, and the rollouts when a filter asks for them', async () => {
    const tables = recorded();
    expect(await runProgram(['show', run], tables.terminal)).toBe(0);
    expect(tables.out()).toMatch(/^evolve of crossfit in world 1, seed 1/);
    const rollouts = recorded();
    expect(await runProgram(['show', run, '--step', 'base/evaluate', '--limit', '2'], rollouts.terminal)).toBe(0);
    expect(rollouts.out()).toMatch(/^#1 {2}base\/evaluate {2}solver: /);
    expect(rollouts.out().trimEnd()).toMatch(/\nRollouts 1 to 2; there are more: --page 2$/);
  });

  it('answers a question with the passages it read', async () => {
    const { terminal, out } = recorded();
    expect(await runProgram(['ask', 'hometown of Ingrid Pryce ?', '--run', run], terminal)).toBe(0);
    expect(out()).toMatch(/^Search {4}\S.*\n {2}.* \[[a-z-]+\]\n {4}.*\./);
    expect(out()).toContain('Answer    ');
    expect(out()).toContain('solver of crossfit, round 2');
  });

  it('says whose solvers there are', async () => {
    const { terminal, err } = recorded();
    expect(await runProgram(['ask', 'x', '--run', run, '--system', 'dr-zero'], terminal)).toBe(2);
    expect(err()).toBe('crossfold: --system is "dr-zero"; this run has crossfit\n');
  });
});

describe('alarms on the command line', () => {
  const root = mkdtempSync(join(tmpdir(), 'crossfold-alarm-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('stop the run cleanly when asked to; it goes on without', async () => {
    // So cold that the responses to a question are all alike: no group has variance.
    const args = ['evolve', '--system', 'dr-zero', ...SMALL, '--temperature', '0.001', '--run', join(root, 'run')];
    const unknown = recorded();
    expect(await runProgram([...args, '--stop-on', 'nothing'], unknown.terminal)).toBe(2);
    expect(unknown.err()).toContain('--stop-on names "nothing"; expected some of idle-groups, entropy');
    const stopped = recorded();
    expect(await runProgram([...args, '--stop-on', 'idle-groups'], stopped.terminal)).toBe(130);
    expect(stopped.err()).toMatch(/Alarm in round1\/\w+\/000: idle-groups is 1\.0 \(share of groups without variance/);
    expect(stopped.err()).toMatch(/stopped by an alarm: idle-groups .* without --stop-on to go on/);
    const on = recorded();
    expect(await runProgram(args, on.terminal), on.err()).toBe(0);
    expect(on.out()).toMatch(/! shared, solver steps, from round1\/solver\/000 on .* idle-groups/);
  }, 60_000);
});
