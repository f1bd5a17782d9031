import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rng } from '../../src/util/rng.ts';
import { journal } from './journal.ts';
import { runTiny } from './tiny.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-resume-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const KILLS = 20;

describe('a run of both systems', () => {
  it('is the same twice, and the same after 20 kills at random moments', { timeout: 600_000 }, async () => {
    const [whole, again, broken] = ['whole', 'again', 'broken'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    await runTiny(whole);
    const expected = await journal(whole);
    expect(expected.length).toBeGreaterThan(20);
    await runTiny(again);
    expect(await journal(again)).toEqual(expected);

    const draw = rng('kills');
    let kills = 0;
    for (let tries = 0; kills < KILLS && tries < 3 * KILLS; tries++) {
      const before = (await journal(broken)).length;
      if (before >= expected.length) break;
      const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'child.ts'), broken], {
        stdio: 'pipe',
      });
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      const ended = once(child, 'exit');
      // Some kills hit the start-up, most hit the work: wait for a random number of new lines, then a random moment.
      const target = before + (draw.uniform() < 0.2 ? 0 : 1 + draw.below(2));
      while (child.exitCode === null && (await journal(broken).catch(() => [])).length < target) await wait(5);
      await wait(draw.below(120));
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        kills++;
      }
      await ended;
      if (child.exitCode !== null && child.exitCode !== 0) throw new Error(`the run failed: ${stderr}`);
    }
    expect(kills).toBeGreaterThan(10);
    await runTiny(broken);
    expect(await journal(broken)).toEqual(expected);
  });
});
