import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../src/store/lock.ts';
import { openRun } from '../../src/store/run.ts';
import { UserError } from '../../src/util/error.ts';
import { folder, spec } from './folder.ts';

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

  it('of several newcomers exactly one takes over', async () => {
    const dir = folder();
    const rounds = 20;
    const pid = deadPid();
    for (let round = 0; round < rounds; round++) {
      mkdirSync(join(dir, String(round)));
      writeFileSync(join(dir, String(round), 'lock'), owner({ pid }));
    }
    const script = join(dir, 'newcomer.mts');
    const module = JSON.stringify(join(import.meta.dirname, '../../src/store/lock.ts'));
    // All wait for the same moment of each round; nobody lets go.
    writeFileSync(
      script,
      `import { acquireLock } from ${module};
       const [begin, dir] = [Number(process.argv[2]), process.argv[3]];
       const taken = [];
       for (let round = 0; round < ${rounds}; round++) {
         while (Date.now() < begin + 10 * round);
         try { acquireLock(dir + '/' + round + '/lock'); taken.push(round); }
         catch (error) { if (error.name !== 'UserError') throw error; }
       }
       process.stdout.write(JSON.stringify(taken));
       setTimeout(() => {}, 1000);`,
    );
    const begin = Date.now() + 1000;
    const takers = await Promise.all(
      [0, 1, 2].map(async () => {
        const args = ['--import', 'tsx', script, String(begin), dir];
        const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        for await (const chunk of child.stdout) text += chunk;
        return JSON.parse(text) as number[];
      }),
    );
    expect(takers.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: rounds }, (_, i) => i));
  });
});
