import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/util/error.ts';
import { contentId } from '../../src/util/id.ts';
import { lineSplitter, parseLine } from '../../src/util/jsonl.ts';

/** The values of a text and the numbers of their lines. */
function all(text: string | Buffer): (readonly [number, unknown])[] {
  const splitter = lineSplitter('f.jsonl');
  const lines = splitter.push(Buffer.from(text));
  const rest = splitter.rest();
  return (rest === null ? lines : [...lines, rest]).flatMap((line) => {
    const value = parseLine(line, 'f.jsonl');
    return value === undefined ? [] : [[line.number, value]];
  });
}

describe('JSON Lines', () => {
  it('are read with a byte order mark, carriage returns, blank lines and no last newline', () => {
    expect(all('\ufeff{"a":"é"}\r\n\r\n  \n[1]\r\nnull\n"x"')).toEqual([
      [1, { a: 'é' }],
      [4, [1]],
      [5, null],
      [6, 'x'],
    ]);
    expect(all('')).toEqual([]);
  });

  it.each([
    ['1\n\n{"a":}\n', 'f.jsonl:3: not JSON ('],
    [Buffer.from('"ok"\n"\xe9"\n', 'latin1'), 'f.jsonl:2: not UTF-8'],
  ])('name the file and line of what is wrong', (text, message) => {
    expect(() => all(text)).toThrow(UserError);
    expect(() => all(text)).toThrow(message);
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
});

it('content ids are the first half of SHA-256', () => {
  // FIPS 180-2: SHA-256("abc") and the hash of nothing.
  expect(contentId('abc')).toBe('ba7816bf8f01cfea414140de5dae2223');
  expect(contentId(new Uint8Array())).toBe('e3b0c44298fc1c149afbf4c8996fb924');
  expect(contentId('é')).toBe(contentId(Buffer.from([0xc3, 0xa9])));
});
