import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openReader } from '../../src/store/read.ts';
import { openRun } from '../../src/store/run.ts';
import { folder, spec } from './folder.ts';

describe('reader', () => {
  it('follows a run that is being written', async () => {
    const dir = folder();
    const run = await openRun(dir, spec);
    const reader = await openReader(dir);
    expect(reader.keys()).toEqual([]);
    const blob = await run.blobs.put(Buffer.from('weights'));
    await run.scope('r1').once('a', async () => ({ blob }));
    await run.scope('r10').once('a', async () => 10);
    expect(await reader.refresh()).toEqual(['r1/a', 'r10/a']);
    expect(await reader.get('r1/a')).toEqual({ blob });
    expect(Buffer.from(await reader.blobs.get(blob)).toString()).toBe('weights');

    await run.scope('r1').once('b', async () => 'é');
    // A line that another process is in the middle of.
    appendFileSync(join(dir, 'journal.jsonl'), '{"key":"r1/c","val');
    expect(await reader.refresh()).toEqual(['r1/b']);
    expect(reader.keys('r1')).toEqual(['r1/a', 'r1/b']);
    expect(reader.keys('r1/b')).toEqual(['r1/b']);
    const seen = [];
    for await (const { key, value } of reader.events('r1')) seen.push([key, value]);
    expect(seen).toEqual([
      ['r1/a', { blob }],
      ['r1/b', 'é'],
    ]);
    appendFileSync(join(dir, 'journal.jsonl'), 'ue":3,"at":"","ms":0}\n');
    expect(await Promise.all([reader.refresh(), reader.refresh()])).toEqual([['r1/c'], []]);
    expect(await reader.get('r1/c')).toBe(3);
    expect(await reader.get('r2')).toBe(undefined);
    expect(reader.manifest.recipe).toBe('test');
    await run.close();
  });

  it('says where there is no run', async () => {
    const dir = join(folder(), 'empty');
    mkdirSync(dir);
    await expect(openReader(dir)).rejects.toThrow(`${dir}: no run here (run.json is missing)`);
  });
});
