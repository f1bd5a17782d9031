/** The shared case of kind corpus_line, every field of it, and the properties of its whole kind. */
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseCorpusLine, parseCorpusRow } from '../../src/retriever/corpus/line.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly input: { readonly bytes_utf8: string };
  readonly expected: Readonly<Record<string, unknown>>;
}

const FILE = new URL('../../../shared/cases/cases.jsonl', import.meta.url);
const cases = existsSync(FILE)
  ? readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Case)
      .filter(({ kind }) => kind === 'corpus_line')
  : [];
if (cases.length === 0) console.log(`skipped: no shared cases at ${FILE.pathname}`);

describe.skipIf(cases.length === 0)('shared cases', () => {
  test.each(cases.map((c) => [c.id, c] as const))('%s corpus_line', (_, { input, expected }) => {
    expect(parseCorpusLine(input.bytes_utf8)).toEqual(expected);
  });
});

const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((s) => s.trim() !== '');
const title = fc.string({ unit: 'grapheme' });
const oneLine = title.filter((s) => !s.includes('\n') && s.trim() === s);
const id = fc.oneof(fc.integer(), fc.string({ minLength: 1 }));

describe('any line of a corpus', () => {
  it('gives its document back whatever byte-order mark, line end and kind of id it has', () => {
    const end = fc.constantFrom('', '\r', '\r\n');
    fc.assert(
      fc.property(id, title, text, fc.boolean(), end, (id, title, text, bom, end) => {
        const read = parseCorpusLine(`${bom ? '\uFEFF' : ''}${JSON.stringify({ id, title, text })}${end}`);
        expect(read).toEqual({
          ok: true,
          doc: { id: String(id), title, text },
          notes: [
            ...(bom ? ['bom_removed'] : []),
            ...(end === '' ? [] : ['crlf']),
            ...(typeof id === 'number' ? ['id_to_string'] : []),
          ],
        });
      }),
    );
  });

  it('recovers title and text from contents', () => {
    fc.assert(
      fc.property(id, oneLine, text, (id, title, text) => {
        const read = parseCorpusLine(JSON.stringify({ id, contents: `"${title}"\n${text}` }));
        expect(read).toMatchObject({ ok: true, doc: { id: String(id), title, text } });
      }),
    );
  });

  it('never throws: what is no document has a problem', () => {
    const values = fc.oneof(fc.json(), fc.string(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(values, (line) => {
        const read = parseCorpusLine(line);
        if (read.ok) expect(read.doc.text.trim()).not.toBe('');
        else expect(read.problem).not.toBe('');
      }),
    );
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(typeof parseCorpusRow(value, 'place').ok).toBe('boolean');
      }),
    );
  });
});
