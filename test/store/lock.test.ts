import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { acquireLock } from '../../src/store/lock.ts';
import { openRun } from '../../src/store/run.ts';
import { UserError } from '../../src/util/error.ts';
import { folder, spec } from './folder.ts';

/** Called before each file system call of the lock: what another process does at that moment. */
const fsCalls = vi.hoisted(() => ({ before: () => {} }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const hooked = <A extends unknown[], R>(call: (...args: A) => R) => {
    return (...args: A): R => {
      fsCalls.before();
      return call(...args);
    };
  };
  return {
    ...fs,
    linkSync: hooked(fs.linkSync),
    readFileSync: hooked(fs.readFileSync),
    renameSync: hooked(fs.renameSync),
    rmSync: hooked(fs.rmSync),
    writeFileSync: hooked(fs.writeFileSync),
  };
});

const owner = (fields: object): string =>
  JSON.stringify({ pid: 1, host: hostname(), start: '', since: '2026-01-01T00:00:00Z', ...fields });

const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

describe('lock', () => {
  it('refuses a second writer and names the first', async () => {
    const dir = folder();
    const first = await openRun(dir, spec);
    const error = await openRun(dir, spec).catch((e: Error) => e);
    expect(error).toBeInstanceOf(UserError);
    expect((error as Error).message).toContain(
      `${join(dir, 'lock')}: process ${process.pid} has been writing here since`,
    );
    expect(await first.once('k', async () => 1)).toBe(1);
    await first.close();
    await (await openRun(dir, spec)).close();
    expect(existsSync(join(dir, 'lock'))).toBe(false);
  });

  it('names the option that gives another folder', () => {
    const lock = join(folder(), 'lock');
    acquireLock(lock);
    expect(() => acquireLock(lock)).toThrow(/or use another --run folder$/);
    expect(() => acquireLock(lock, '--out')).toThrow(/or use another --out folder$/);
  });

  it('takes over from the dead, also one that died while taking over', () => {
    const lock = join(folder(), 'lock');
    writeFileSync(lock, owner({ pid: deadPid() }));
    writeFileSync(`${lock}.dead`, owner({ pid: deadPid() }));
    const release = acquireLock(lock);
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() });
    expect(existsSync(`${lock}.dead`)).toBe(false);
    release();
    expect(existsSync(lock)).toBe(false);
    writeFileSync(lock, '');
    acquireLock(lock)();
  });

  it('leaves alone what it does not own', () => {
    const lock = join(folder(), 'lock');
    writeFileSync(lock, owner({ pid: process.pid }));
    expect(() => acquireLock(lock)).toThrow(`process ${process.pid} has been`);
    writeFileSync(lock, owner({ pid: 5, host: 'elsewhere' }));
    expect(() => acquireLock(lock)).toThrow(
      'process 5 on host elsewhere has been writing here since 2026-01-01T00:00:00Z; if it',
    );
    const mine = join(folder(), 'lock');
    const release = acquireLock(mine);
    writeFileSync(mine, owner({ pid: 5 }));
    release();
    expect(existsSync(mine)).toBe(true);
  });

  it.skipIf(process.platform !== 'linux')('a reused pid is not the owner', () => {
    const lock = join(folder(), 'lock');
    writeFileSync(lock, owner({ pid: process.pid, start: '1' }));
    acquireLock(lock)();
  });

  it.each([
    ['nobody', null, null],
    ['a dead owner', 'dead', null],
    ['a dead owner and a dead successor', 'dead', 'dead'],
  ])('of two newcomers after %s exactly one writes, whenever the second comes', (_, first, second) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
      fsCalls.before = () => {};
    });
    const pid = deadPid();
    let moments = 0;
    for (let moment = 1, interrupted = true; interrupted; moment++) {
      const lock = join(folder(), 'lock');
      if (first !== null) writeFileSync(lock, owner({ pid }));
      if (second !== null) writeFileSync(`${lock}.dead`, owner({ pid }));
      const winners: string[] = [];
      const attempt = (name: string): void => {
        try {
          acquireLock(lock);
          winners.push(name);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      };
      let calls = 0;
      interrupted = false;
      fsCalls.before = () => {
        if (++calls !== moment) return;
        interrupted = true;
        vi.advanceTimersByTime(5);
        attempt('second');
      };
      attempt('first');
      fsCalls.before = () => {};
      moments = moment;
      expect(winners.length).toBe(1);
      expect(existsSync(`${lock}.dead`)).toBe(false);
    }
    expect(moments).toBeGreaterThan(4);
  });
});
