import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checks, nodeFinding, policyFinding, roomFinding } from '../../src/cli/checks.ts';
import { diagnose } from '../../src/cli/doctor.ts';
import { probe } from '../../src/cli/probe.ts';
import { runProgram } from '../../src/cli/program.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

describe('doctor', () => {
  it('finds this machine able: every check comes back, and nothing is left behind', async () => {
    const dir = folder();
    const told: string[] = [];
    const found = await diagnose(checks(join(dir, 'runs')), ({ name }) => told.push(name));
    expect(told).toEqual([
      'Node',
      'ONNX Runtime',
      'Memory',
      'Disk space',
      'Run folder',
      'Policy mini',
      'Policy reader',
      'Train and sample',
    ]);
    expect(found.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('generates, trains and generates', async () => {
    expect(await probe()).toMatch(/^16 tokens sampled, loss \d\.\d\d to \d\.\d\d in one step$/);
  });

  it.each([
    ['18.19.0', 'failed'],
    ['20.0.0', 'good'],
    ['24.1.0', 'good'],
  ])('Node %s is %s', (version, state) => {
    expect(nodeFinding(version).state).toBe(state);
  });

  it.each([
    [0.4, 'failed', '0.4 GiB free here', 'do this: at least 0.5 GiB are needed'],
    [1, 'poor', '1.0 GiB free here', 'do this: 2 GiB are comfortable'],
    [2, 'good', '2.0 GiB free here', ''],
  ])('%d GiB are %s', (gib, state, found, fix) => {
    expect(roomFinding(gib * 2 ** 30, 'here', 'do this')).toEqual({ state, found, fix });
  });

  it('says what is wrong with a policy and what to do', async () => {
    const dir = folder();
    const { state, found, fix } = await policyFinding(dir);
    expect(state).toBe('failed');
    expect(found).toContain(join(dir, 'config.json'));
    expect(fix).toContain('crossfold pretrain');
    mkdirSync(join(dir, 'broken'));
    writeFileSync(join(dir, 'broken', 'config.json'), '{');
    expect((await policyFinding(join(dir, 'broken'))).found).toContain('not JSON');
  });

  it('goes on after a check that throws', async () => {
    const rows = [
      { name: 'a', run: () => Promise.reject(new Error('boom')) },
      { name: 'b', run: async () => ({ state: 'good', found: 'fine', fix: '' }) as const },
    ];
    expect(await diagnose(rows, () => {})).toEqual([
      { name: 'a', state: 'failed', found: 'boom', fix: 'run "npm ci" again' },
      { name: 'b', state: 'good', found: 'fine', fix: '' },
    ]);
  });

  it('is exit code 2 with the names when a check fails, as JSON too', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    const { terminal, out, err } = recorded();
    expect(await runProgram(['doctor', '--json', '--run', join(file, 'runs')], terminal)).toBe(2);
    const { ok, checks: found } = JSON.parse(out()) as { ok: boolean; checks: { name: string; fix: string }[] };
    expect(ok).toBe(false);
    expect(found.find(({ name }) => name === 'Run folder')!.fix).toContain('--run');
    expect(err()).toMatch(/^crossfold: 1 of 8 checks failed: Run folder\n$/);
  });
});
