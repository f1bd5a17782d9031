import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { openRun } from '../../src/store/run.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { folder, spec } from './folder.ts';

describe('once', () => {
  it('computes once, in this process and the next', async () => {
    const dir = folder();
    let computed = 0;
    const value = async (): Promise<number> => ++computed;
    const run = await openRun(dir, spec);
    expect(await run.scope('r1').once('p03', value)).toBe(1);
    expect(await run.scope('r1').once('p03', value)).toBe(1);
    expect(await run.once('r1/p03', value)).toBe(1);
    expect(await run.scope('r2').scope('p').once('03', value)).toBe(2);
    await run.close();
    const again = await openRun(dir, spec);
    expect(await again.scope('r1').once('p03', value)).toBe(1);
    expect(await again.once('r2/p/03', value)).toBe(2);
    expect(computed).toBe(2);
    await again.close();
  });

  it('shares a running computation, and journals nothing when it fails', async () => {
    const dir = folder();
    const run = await openRun(dir, spec);
    let starts = 0;
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = async (): Promise<string> => {
      starts++;
      await gate;
      return 'done';
    };
    const both = [run.once('k', slow), run.scope('s').once('other', async () => 0), run.once('k', slow)];
    await both[1];
    open();
    expect(await Promise.all(both)).toEqual(['done', 0, 'done']);
    expect(starts).toBe(1);

    const broken = (): Promise<never> => Promise.reject(new Error('outage'));
    const outcomes = await Promise.allSettled([run.once('bad', broken), run.once('bad', broken)]);
    expect(outcomes.map((o) => o.status)).toEqual(['rejected', 'rejected']);
    expect(readFileSync(join(dir, 'journal.jsonl'), 'utf8')).not.toContain('"bad"');
    expect(await run.once('bad', async () => 'fine now')).toBe('fine now');
    await run.close();
  });

  it('gives a fresh run what a resumed one reads', async () => {
    const dir = folder();
    const value = { kept: -0, 'left out': undefined, nested: [{ x: undefined, __proto__x: 1 }], lone: '\ud800' };
    const run = await openRun(dir, spec);
    const fresh = await run.once('v', async () => value);
    expect(fresh).toStrictEqual({ kept: 0, nested: [{ __proto__x: 1 }], lone: '\ud800' });
    await run.close();
    const again = await openRun(dir, spec);
    expect(await again.once('v', async () => value)).toStrictEqual(fresh);
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.uuid(), async (json, key) => {
        const first = await again.once(key, async () => json);
        expect(first).toStrictEqual(JSON.parse(JSON.stringify(json)));
        expect(await again.once(key, async () => 'not computed')).toStrictEqual(first);
      }),
      { numRuns: 60 },
    );
    await again.close();
  });

  it.each<[unknown, string]>([
    [{ loss: [1, Number.NaN] }, 's/k: value.loss[1] is NaN, which JSON cannot hold'],
    [Number.NEGATIVE_INFINITY, 's/k: value is -Infinity, which'],
    [undefined, 's/k: value is undefined, which'],
    [[1, undefined], 's/k: value[1] is undefined, which'],
    [{ w: new Float32Array(2) }, 's/k: value.w is a Float32Array, which'],
    [new Map(), 's/k: value is a Map, which'],
    [[new Date(0)], 's/k: value[0] is a Date, which'],
    [{ n: 1n }, 's/k: value.n is a bigint, which'],
    [{ f: () => 1 }, 's/k: value.f is a function, which'],
  ])('refuses what JSON would change: %o', async (value, message) => {
    const run = await openRun(folder(), spec);
    await expect(run.scope('s').once('k', async () => value)).rejects.toThrow(message);
    expect(await run.scope('s').once('k', async () => 'ok')).toBe('ok');
    await run.close();
  });

  it('refuses a value in a circle', async () => {
    const run = await openRun(folder(), spec);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    await expect(run.once('k', async () => circle)).rejects.toThrow('k: value is nested deeper than 200 levels');
    await expect(run.once('', async () => 1)).rejects.toThrow('non-empty names');
    expect(() => run.scope('a/')).toThrow('non-empty names');
    await run.close();
    const late = vi.fn(async () => 1);
    await expect(run.once('late', late)).rejects.toThrow('after it was closed');
    expect(late).not.toHaveBeenCalled();
  });

  it('the cursor stores the next batch: no optimizer step twice, no metric changed (case c44)', async () => {
    let steps = 0;
    let weights = 0;
    // A training loop whose state is the value of its last step; `stopAfter` dies once that batch's line is written.
    const train = async (dir: string, stopAfter = Number.POSITIVE_INFINITY): Promise<number[]> => {
      const run = await openRun(dir, spec);
      const losses: number[] = [];
      weights = 0;
      try {
        for (let batch = 0; batch < 12; batch++) {
          const before = weights;
          const done = await run.scope('train').once(`batch${batch}`, async () => {
            steps++;
            return { nextBatch: batch + 1, weights: before * 0.5 + batch, loss: 1 / (1 + before) };
          });
          weights = done.weights;
          losses.push(done.loss);
          if (batch === stopAfter) throw new Error('killed: checkpoint saved');
          if (batch === 7) expect(done.nextBatch).toBe(8);
        }
      } finally {
        await run.close();
      }
      return losses;
    };
    const unbroken = await train(folder());
    const end = weights;
    steps = 0;
    const dir = folder();
    await expect(train(dir, 7)).rejects.toThrow('killed');
    expect(steps).toBe(8);
    expect(await train(dir)).toEqual(unbroken);
    expect(weights).toBe(end);
    expect(steps).toBe(12);
  });
});

describe('run.json', () => {
  it('is written once and names what differs later', async () => {
    const dir = folder();
    const config = { steps: 25, solver: { rate: 1, name: 'a' }, mix: [4, 3] };
    await (await openRun(dir, { ...spec, config })).close();
    const written = readFileSync(join(dir, 'run.json'), 'utf8');
    expect(JSON.parse(written)).toEqual({ ...spec, schema: 1, config });

    const reordered = { mix: [4, 3], solver: { name: 'a', rate: 1 }, steps: 25, absent: undefined };
    const same = await openRun(dir, { ...spec, config: reordered, codeVersion: '2' });
    expect(same.warnings).toEqual([`${dir} was started by version 1 and is continued by 2`]);
    await same.close();

    const other = { steps: 25, solver: { rate: 2 }, mix: [4, 3, 2], more: null };
    const error = await openRun(dir, { ...spec, seed: 2, config: other }).catch((e: Error) => e);
    expect(error).toBeInstanceOf(UserError);
    expect((error as Error).message).toBe(
      `${dir} holds another run (seed: 1 there, 2 now; config.solver.rate: 1 there, 2 now; ` +
        'config.solver.name: "a" there, absent now; config.mix: [4,3] there, [4,3,2] now; ' +
        'config.more: absent there, null now); use another --run folder',
    );
    await expect(openRun(dir, { ...spec, config, recipe: 'x' })).rejects.toThrow('recipe: "test" there, "x" now');
    await expect(openRun(dir, { ...spec, config, parents: ['p'] })).rejects.toThrow('parents: [] there, ["p"] now');
    expect(readFileSync(join(dir, 'run.json'), 'utf8')).toBe(written);
  });

  it('refuses a folder it cannot trust', async () => {
    const dir = folder();
    await (await openRun(dir, spec)).close();
    writeFileSync(join(dir, 'run.json'), '{"schema": 2}');
    await expect(openRun(dir, spec)).rejects.toThrow(
      'run.json: has layout 2, but this version of crossfold reads layout 1',
    );
    writeFileSync(join(dir, 'run.json'), '{');
    await expect(openRun(dir, spec)).rejects.toThrow('run.json: not JSON');
    writeFileSync(join(dir, 'run.json'), '{"schema": 1, "recipe": "x"}');
    await expect(openRun(dir, spec)).rejects.toThrow('run.json: lacks "config"');
    rmSync(join(dir, 'run.json'));
    await expect(openRun(dir, spec)).rejects.toThrow('has a journal but no run.json');
    expect(existsSync(join(dir, 'lock'))).toBe(false);
    await expect(openRun(folder(), { ...spec, config: { rate: Number.NaN } })).rejects.toThrow('config.rate is NaN');
  });

  it('refuses a folder with files of somebody else, and leaves them alone', async () => {
    const dir = folder();
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'thesis.md'), 'mine');
    await expect(openRun(dir, spec)).rejects.toThrow(/thesis\.md/);
    expect(readdirSync(dir)).toEqual(['thesis.md']);
  });

  it('a folder that cannot be made is one clear line', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'file'), '');
    const error = await openRun(join(dir, 'file', 'run'), spec).catch((e: Error) => e);
    expect(error).toBeInstanceOf(InfraError);
    expect((error as Error).message).toContain(`${join(dir, 'file', 'run')}: cannot write (ENOTDIR`);
  });
});

describe('blobs', () => {
  it('are named by content, verified, and dropped', async () => {
    const dir = folder();
    const { blobs, close } = await openRun(dir, spec);
    const bytes = Buffer.from('abc');
    const id = await blobs.put(bytes);
    // SHA-256 of "abc" (FIPS 180-2, appendix B.1), first half.
    expect(id).toBe('ba7816bf8f01cfea414140de5dae2223');
    expect(await blobs.put(bytes)).toBe(id);
    expect(Buffer.from(await blobs.get(id))).toEqual(bytes);
    const file = join(dir, 'blobs', 'ba', '7816bf8f01cfea414140de5dae2223');
    expect(readFileSync(file, 'utf8')).toBe('abc');
    expect(readdirSync(join(dir, 'blobs', 'unfinished'))).toEqual([]);

    writeFileSync(file, 'abd');
    await expect(blobs.get(id)).rejects.toThrow(
      `${file}: damaged: its 3 bytes hash to a52d159f262b2c6ddb724a61840befc3`,
    );
    expect(await blobs.put(bytes)).toBe(id);
    expect(Buffer.from(await blobs.get(id))).toEqual(bytes);

    await blobs.drop(id);
    expect(await blobs.has(id)).toBe(false);
    await blobs.drop(id);
    await blobs.drop('../../run.json');
    expect(existsSync(join(dir, 'run.json'))).toBe(true);
    await expect(blobs.get('../run.json')).rejects.toThrow('no blob "../run.json"');
    expect(await blobs.has('../run.json')).toBe(false);
    await close();
  });

  it('leave nothing half-written behind', async () => {
    const dir = folder();
    mkdirSync(join(dir, 'blobs', 'unfinished'), { recursive: true });
    writeFileSync(join(dir, 'blobs', 'unfinished', '1-0'), 'half');
    const run = await openRun(dir, spec);
    expect(existsSync(join(dir, 'blobs', 'unfinished'))).toBe(false);
    writeFileSync(join(dir, 'blobs', 'unfinished'), 'in the way');
    await expect(run.blobs.put(new Uint8Array(1))).rejects.toBeInstanceOf(InfraError);
    await run.close();
  });

  it('tells how long the engine worked since the line before, once somebody watches it', async () => {
    const dir = folder();
    const run = await openRun(dir, spec);
    await run.once('before', async () => 1);
    let busy = 1000;
    run.watch(() => busy);
    busy += 40;
    await run.once('a', async () => 1);
    busy += 7;
    await run.scope('s').once('b', async () => 2);
    await run.close();
    const lines = readFileSync(join(dir, 'journal.jsonl'), 'utf8').trim().split('\n');
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.map(({ key, busy }) => [key, busy])).toEqual([
      ['before', undefined],
      ['a', 40],
      ['s/b', 7],
    ]);
    expect(events[1]!.wall).toBeGreaterThanOrEqual(0);
  });

  it('writes a line after what it has to wait for, and not at all when that fails', async () => {
    const dir = folder();
    const run = await openRun(dir, spec);
    const slow = run.once('slow', () => new Promise((resolve) => setTimeout(() => resolve(1), 30)));
    const failing = Promise.reject(new Error('outage'));
    failing.catch(() => {});
    await Promise.all([slow, run.once('quick', async () => 2, slow)]);
    await expect(run.once('never', async () => 3, failing)).rejects.toThrow('outage');
    await run.close();
    const keys = readFileSync(join(dir, 'journal.jsonl'), 'utf8').match(/(?<="key":")[^"]*/g);
    expect(keys).toEqual(['slow', 'quick']);
  });
});
