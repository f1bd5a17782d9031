import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openReader } from '../../src/store/read.ts';
import type { Event } from '../../src/store.ts';
import { rng } from '../../src/util/rng.ts';
import { folder } from './folder.ts';
import { STEPS, write } from './writer.ts';

const WRITER = ['--import', 'tsx', join(import.meta.dirname, 'writer.ts')];

/** Key, value and blobs of every event, without the clock. */
async function content(dir: string): Promise<readonly [string, unknown][]> {
  const reader = await openReader(dir);
  const found: [string, unknown][] = [];
  for await (const { key, value } of reader.events()) {
    found.push([key, value]);
    if (key.endsWith('/state')) await reader.blobs.get(value as string);
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

async function unbroken(): Promise<readonly [string, unknown][]> {
  const dir = folder();
  await write(dir);
  return content(dir);
}

describe('a run that is stopped and started again ends as an unbroken one', () => {
  it('killed at ten random moments', async () => {
    const dir = folder();
    const file = join(dir, 'journal.jsonl');
    const delay = rng('kill');
    let whole = Buffer.alloc(0);
    let killedInside = 0;
    for (let kill = 0; kill < 10; kill++) {
      const child = spawn(process.execPath, [...WRITER, dir], { stdio: 'inherit' });
      const exit = once(child, 'exit');
      // From the moment it writes, so that a slow start is not all that gets killed; one in three at any time.
      const size = existsSync(file) ? statSync(file).size : 0;
      const early = kill % 3 === 2;
      while (!early && child.exitCode === null && (existsSync(file) ? statSync(file).size : 0) === size) await sleep(2);
      await sleep(delay.uniform() * (early ? 250 : 25));
      child.kill('SIGKILL');
      const [code] = await exit;
      expect(code === null || code === 0).toBe(true);
      // A kill inside write(2) is rare, so some lines are torn by hand.
      if (kill % 3 === 1 && existsSync(file)) truncateSync(file, Math.max(0, statSync(file).size - 7));
      const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
      // What was written once stays as it was (but for the line torn here).
      const common = Math.min(whole.length, bytes.length);
      expect(bytes.subarray(0, common).equals(whole.subarray(0, common))).toBe(true);
      whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
      const lines = whole.toString().split('\n').length - 1;
      if (lines > 0 && lines < 4 * STEPS) killedInside++;
    }
    expect(killedInside).toBeGreaterThan(2);
    await write(dir);
    const expected = await unbroken();
    expect(expected).toHaveLength(4 * STEPS);
    expect(await content(dir)).toEqual(expected);
  });

  it.skipIf(process.platform === 'win32')('out of room in the middle of a line', async () => {
    const dir = folder();
    const command = `ulimit -f 200; exec "$0" "$@"`;
    const full = spawnSync('bash', ['-c', command, process.execPath, ...WRITER, dir], { encoding: 'utf8' });
    const file = join(dir, 'journal.jsonl');
    expect(full.stderr).toMatch(/^InfraError: [^\n]*journal\.jsonl: cannot write \(EFBIG[^\n]*\n$/);
    expect(full.stderr).toContain('run the same command again: nothing finished is lost.');
    expect(full.status).toBe(3);
    const text = readFileSync(file, 'utf8');
    expect(text.endsWith('\n')).toBe(true);
    for (const line of text.trimEnd().split('\n')) expect(typeof (JSON.parse(line) as Event).key).toBe('string');
    await write(dir);
    expect(await content(dir)).toEqual(await unbroken());
  });
});
