import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../src/store/journal.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { openAppender } from '../../src/util/jsonl.ts';
import { folder } from './folder.ts';

const line = (key: string, value: unknown = 1): string => JSON.stringify({ key, value, at: '2026-01-01', ms: 0 });

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => Promise.reject(new Error('did not fail')),
    (error: Error) => error,
  );
}

describe('journal', () => {
  it('reads back what it appended', async () => {
    const file = join(folder(), 'journal.jsonl');
    const first = await openJournal(file);
    expect(await first.append('a', { x: [1, null, 'é\n'] }, 1.6)).toEqual({ x: [1, null, 'é\n'] });
    expect((await first.get('a')).value).toEqual({ x: [1, null, 'é\n'] });
    await first.close();
    const again = await openJournal(file);
    const { at, ...rest } = await again.get('a');
    expect(rest).toEqual({ key: 'a', value: { x: [1, null, 'é\n'] }, ms: 2 });
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT/);
    await again.append('b', 2, 0);
    await again.close();
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3);
  });

  it('cuts a torn last line, wherever it is torn', async () => {
    const file = join(folder(), 'journal.jsonl');
    const lines = [line('a', 'é'), line('b', [1, 2]), line('c', { d: '😀' })];
    const bytes = Buffer.from(lines.map((l) => `${l}\n`).join(''));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), async (cut) => {
        writeFileSync(file, bytes.subarray(0, cut));
        const kept = bytes.subarray(0, cut).filter((b) => b === 10).length;
        const journal = await openJournal(file);
        expect(['a', 'b', 'c'].filter(journal.has)).toEqual(['a', 'b', 'c'].slice(0, kept));
        await journal.append('z', 9, 0);
        await journal.close();
        const after = readFileSync(file, 'utf8').trimEnd().split('\n');
        expect(after.slice(0, -1)).toEqual(lines.slice(0, kept));
        expect(JSON.parse(after.at(-1)!)).toMatchObject({ key: 'z', value: 9 });
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['no JSON', '{"key":"b","val', 2],
    ['no event', '{"key":"b"}', 2],
    ['blank', '', 2],
    ['zeros', '\0\0\0', 2],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 2],
  ])('names file and line of a damaged line in the middle: %s', async (_, damaged, number) => {
    const file = join(folder(), 'journal.jsonl');
    writeFileSync(file, `${line('a')}\n`);
    appendFileSync(file, damaged);
    appendFileSync(file, `\n${line('c')}\n`);
    const before = readFileSync(file);
    const error = await failure(openJournal(file));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(`${file}:${number}: `);
    expect(readFileSync(file)).toEqual(before);
  });

  it('refuses a key that comes twice', async () => {
    const file = join(folder(), 'journal.jsonl');
    writeFileSync(file, `${line('a')}\n${line('b')}\n${line('a')}\n`);
    const error = await failure(openJournal(file));
    expect(error.message).toContain(`${file}:3: key "a" is already on line 1`);
    writeFileSync(file, `${line('a')}\n`);
    const journal = await openJournal(file);
    expect((await failure(journal.append('a', 2, 0))).message).toContain('a: already in');
    await journal.close();
  });

  it('keeps order and places when many append at once', async () => {
    const file = join(folder(), 'journal.jsonl');
    const journal = await openJournal(file);
    const keys = Array.from({ length: 200 }, (_, i) => `k${i}`);
    await Promise.all(keys.map((key, i) => journal.append(key, 'x'.repeat(i), 0)));
    for (const [i, key] of keys.entries()) expect((await journal.get(key)).value).toBe('x'.repeat(i));
    await journal.close();
    const written = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(written.map((l) => JSON.parse(l).key)).toEqual(keys);
  });
});

describe('appender', () => {
  it.skipIf(!existsSync('/dev/full'))('a full disk is one clear line and the end of writing', async () => {
    const lines = await openAppender('/dev/full');
    const error = await failure(lines.append('{}'));
    expect(error).toBeInstanceOf(InfraError);
    expect(error.message).toBe(
      '/dev/full: cannot write (ENOSPC: no space left on device, write). ' +
        'Free space and run the same command again: nothing finished is lost.',
    );
    expect(lines.check).toThrow(error);
    expect(await failure(lines.append('{}'))).toBe(error);
    await lines.close();
  });
});
