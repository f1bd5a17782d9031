import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/util/error.ts';
import { contentId } from '../../src/util/id.ts';
import { lineSplitter, readJsonl } from '../../src/util/jsonl.ts';
import { mapPool } from '../../src/util/pool.ts';
import { folder } from './folder.ts';

async function all(file: string): Promise<readonly [number, unknown][]> {
  const found: [number, unknown][] = [];
  for await (const { line, value } of readJsonl(file)) found.push([line, value]);
  return found;
}

describe('JSON Lines', () => {
  it('reads plain and gzipped files, with a byte order mark, carriage returns, blank lines and no last newline', async () => {
    const dir = folder();
    const text = '\ufeff{"a":"é"}\r\n\r\n  \n[1]\r\nnull\n"x"';
    const expected = [
      [1, { a: 'é' }],
      [4, [1]],
      [5, null],
      [6, 'x'],
    ];
    writeFileSync(join(dir, 'a.jsonl'), text);
    writeFileSync(join(dir, 'a.jsonl.gz'), Buffer.concat([gzipSync(text.slice(0, 9)), gzipSync(text.slice(9))]));
    writeFileSync(join(dir, 'empty.jsonl'), '');
    expect(await all(join(dir, 'a.jsonl'))).toEqual(expected);
    expect(await all(join(dir, 'a.jsonl.gz'))).toEqual(expected);
    expect(await all(join(dir, 'empty.jsonl'))).toEqual([]);
  });

  it.each<[string, string | Buffer | null, string]>([
    ['bad.jsonl', '1\n\n{"a":}\n', 'bad.jsonl:3: not JSON ('],
    ['latin.jsonl', Buffer.from('"ok"\n"\xe9"\n', 'latin1'), 'latin.jsonl:2: not UTF-8'],
    ['cut.jsonl.gz', gzipSync('"a"\n'.repeat(500)).subarray(0, 25), 'cut.jsonl.gz: damaged gzip data'],
    ['plain.jsonl.gz', '{}\n', 'plain.jsonl.gz: damaged gzip data'],
    ['missing.jsonl', null, 'missing.jsonl: no such file'],
    ['missing.jsonl.gz', null, 'missing.jsonl.gz: no such file'],
    ['', null, ': is a folder'],
  ])('names the file and line: %s', async (name, content, message) => {
    const file = join(folder(), name);
    if (content !== null) writeFileSync(file, content);
    const error = await all(file).catch((e: Error) => e);
    expect(error).toBeInstanceOf(UserError);
    expect((error as Error).message).toContain(message);
  });

  it('cuts lines alike however the bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('', 'a', 'bé', '😀')),
        fc.array(fc.integer({ min: 1, max: 5 })),
        (texts, cuts) => {
          const bytes = Buffer.from(texts.join('\n'));
          const splitter = lineSplitter('f');
          const lines = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            lines.push(...splitter.push(bytes.subarray(at, at + cut)));
            at = Math.min(at + cut, bytes.length);
          }
          const rest = splitter.rest();
          if (rest !== null) lines.push(rest);
          const expected = texts.at(-1) === '' ? texts.slice(0, -1) : texts;
          expect(lines.map((l) => l.bytes.toString())).toEqual(expected);
          for (const { start, length, bytes: piece } of lines) {
            expect(bytes.subarray(start, start + length).equals(piece)).toBe(true);
          }
          expect(lines.map((l) => l.number)).toEqual(expected.map((_, i) => i + 1));
        },
      ),
    );
  });

  it('stops reading when the reader does', async () => {
    const file = join(folder(), 'a.jsonl.gz');
    writeFileSync(file, gzipSync('1\n'.repeat(100_000)));
    for await (const { value } of readJsonl(file)) {
      expect(value).toBe(1);
      break;
    }
  });
});

describe('pool', () => {
  it('keeps order and never exceeds its width', async () => {
    let running = 0;
    let most = 0;
    const squares = await mapPool([5, 1, 4, 2, 3], 2, async (n, i) => {
      most = Math.max(most, ++running);
      for (let k = 0; k < n; k++) await Promise.resolve();
      running--;
      return n * n + i;
    });
    expect(squares).toEqual([25, 2, 18, 7, 13]);
    expect(most).toBe(2);
    expect(await mapPool([], 2, async () => 1)).toEqual([]);
  });

  it('after a failure starts nothing and leaves nothing running', async () => {
    const started: number[] = [];
    const finished: number[] = [];
    const work = mapPool([0, 1, 2, 3, 4], 2, async (n) => {
      started.push(n);
      if (n === 0) throw new Error('first');
      await new Promise((resolve) => setTimeout(resolve, 5));
      finished.push(n);
    });
    await expect(work).rejects.toThrow('first');
    expect(started).toEqual([0, 1]);
    expect(finished).toEqual([1]);
  });
});

it('content ids are the first half of SHA-256', () => {
  // FIPS 180-2: SHA-256("abc") and the hash of nothing.
  expect(contentId('abc')).toBe('ba7816bf8f01cfea414140de5dae2223');
  expect(contentId(new Uint8Array())).toBe('e3b0c44298fc1c149afbf4c8996fb924');
  expect(contentId('é')).toBe(contentId(Buffer.from([0xc3, 0xa9])));
});
