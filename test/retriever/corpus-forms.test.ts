import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeEach, describe, expect, it } from 'vitest';
import { readSources } from '../../src/retriever/corpus/read.ts';
import { indexReaders } from '../../src/retriever/corpus/readers.ts';
import { newReport } from '../../src/retriever/corpus/report.ts';
import type { Source } from '../../src/types.ts';
import { UserError } from '../../src/util/error.ts';
import { folder } from '../store/folder.ts';
import { haveRealData, realData } from './real.ts';

let root: string;
beforeEach(() => {
  root = folder();
});

function put(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function read(paths: string | readonly string[], { strict = false, except = [] as readonly string[] } = {}) {
  const report = newReport({ strict });
  const sources: Source[] = [];
  for await (const source of readSources(paths, report, { readers: indexReaders, except })) sources.push(source);
  return { sources, report };
}

const one = async (name: string, content: string | Uint8Array): Promise<Source> =>
  (await read(put(name, content))).sources[0]!;

describe('Markdown becomes text', () => {
  it('without its mark-up, the title once', async () => {
    const markdown = [
      '---',
      'tags: [x]',
      '---',
      '# The *Guide* { #guide }',
      '',
      'Read **this** [page](https://example.org/a_b){.internal-link target=_blank} &amp; `run()` it.',
      '![A map](map.png)',
      '',
      '* one',
      '* two <b>bold</b>',
      '',
      '| A | B |',
      '|---|---|',
      '| 1 | 2 |',
      '',
      '```sh',
      'ls *.md',
      '```',
      '',
      '<script>alert(1)</script>',
    ].join('\n');
    const { title, text } = await one('guide.md', markdown);
    expect(title).toBe('The Guide');
    expect(text.replace(/ +/g, ' ')).toBe('Read this page & run() it.\n\n- one\n- two bold\n\nA B\n1 2\n\nls *.md');
  });

  it('stays text when it is nested beyond reason', async () => {
    expect((await one('deep.md', `${'>'.repeat(30_000)} bottom`)).text).toContain('bottom');
  });
});

describe('HTML becomes text', () => {
  it('of its main part', async () => {
    const html = `<!doctype html><html><head><title>Stars &amp; sky</title><style>p{}</style></head><body>
      <nav><a href="/">Home</a></nav><main><h1>Stars</h1><p>They <b>shine</b> <a href="http://x">at night</a>.</p>
      <script>steal()</script><ul><li>Vega</li></ul></main><footer>2020</footer></body></html>`;
    expect(await one('a/stars.html', html)).toEqual({
      id: 'stars.html',
      title: 'Stars & sky',
      text: 'Stars\n\nThey shine at night.\n\n- Vega',
    });
  });

  it('without a title takes its heading, or the name of the file', async () => {
    expect(await one('x.htm', '<h1>Head</h1><p>Body')).toMatchObject({ title: 'Head', text: 'Body' });
    expect(await one('plain.html', '<p>Body')).toMatchObject({ title: 'plain', text: 'Body' });
  });

  it('nested beyond reason ends in an answer', async () => {
    put('fine.txt', 'fine');
    put('deep.html', `${'<div>'.repeat(20_000)}x`);
    expect((await read(root)).sources.some(({ text }) => text === 'fine')).toBe(true);
  });
});

it('reStructuredText loses rules, roles and links', async () => {
  const rst =
    '=====\nStars\n=====\n\n:Author: A\n\nSee :pep:`8` and `the list <https://x.y/z>`_, ``code`` or *this*.\n';
  expect(await one('stars.rst', rst)).toMatchObject({
    title: 'Stars',
    text: expect.stringContaining('See 8 and the list, code or this.'),
  });
});

it('reStructuredText keeps the text of a directive, not the language or file of one', async () => {
  const rst =
    '.. code-block:: python\n   :linenos:\n\n   run()\n\n.. note:: Mind the lamp.\n\n.. image:: map.png\n\nEnd.\n';
  expect((await one('a.rst', rst)).text.replace(/\s+/g, ' ').trim()).toBe('run() Mind the lamp. End.');
});

describe('PDF', () => {
  it('joins the words that its lines cut', async () => {
    const lines = ['An exam-', 'ple of the Anglo-', 'Saxon lamp from 1990-', '1995 - a', 'light.'];
    expect((await one('h.pdf', pdf(lines.join(') Tj 0 -30 Td ('), ''))).text).toBe(
      'An example of the Anglo-\nSaxon lamp from 1990-\n1995 - a\nlight.',
    );
  });

  it('becomes text with its title', async () => {
    expect(await one('p.pdf', pdf('A lamp shines.', '/Title (The Lamp)'))).toEqual({
      id: 'p.pdf',
      title: 'The Lamp',
      text: 'A lamp shines.',
    });
    expect(await one('q.pdf.gz', gzipSync(pdf('Gone.', '')))).toMatchObject({ title: 'q', text: 'Gone.' });
  });

  it('damaged or without text is left out with the reason', async () => {
    put('a.pdf', pdf('', ''));
    put('b.pdf', 'nothing of the kind');
    put('c.txt', 'fine');
    const { report } = await read(root);
    expect(report.skippedBy).toMatchObject({ empty: 1, damaged: 1 });
    expect(report.problems).toEqual([
      'a.pdf: no text in the PDF; is it a scan? Run it through OCR first',
      expect.stringMatching(/^b\.pdf: cannot be read \(Invalid PDF/),
    ]);
  });
});

describe('JSON arrays', () => {
  it('of HippoRAG keep idx, and rows without an id are called by their place', async () => {
    const rows = [{ title: 'A', text: 'one', idx: 0 }, { title: 'B', text: 'two' }, { title: 'C' }];
    const { sources, report } = await read(put('corpus.json', JSON.stringify(rows, null, 2)));
    expect(sources).toEqual([
      { id: '0', title: 'A', text: 'one' },
      { id: 'corpus.json:2', title: 'B', text: 'two' },
    ]);
    expect(report.problems).toEqual([expect.stringMatching(/^corpus\.json:3: no text/)]);
  });

  it('are cut into their elements whatever is in them', async () => {
    const path = join(root, 'a.json');
    const rows = fc.array(
      fc.record({ title: fc.string({ unit: 'grapheme' }), text: fc.string({ unit: 'grapheme' }) }),
      {
        minLength: 1,
      },
    );
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom(0, 2), async (made, indent) => {
        const all = [...made, { title: '"],[{', text: 'the \\"last\\" }]' }];
        writeFileSync(path, `\uFEFF ${JSON.stringify(all, null, indent)}\n`);
        const { sources } = await read(path);
        const kept = all.filter(({ text }) => text.trim() !== '');
        expect(sources.map(({ title, text }) => ({ title, text }))).toEqual(kept);
      }),
      { numRuns: 30 },
    );
  });

  it('larger than a chunk, and zipped, stream too', async () => {
    const rows = Array.from({ length: 2000 }, (_, i) => ({ id: i, title: 'ü', text: `${i} ${'é€😀'.repeat(200)}` }));
    const { sources } = await read(put('a.json.gz', gzipSync(JSON.stringify(rows))));
    expect(sources.length).toBe(2000);
    expect(sources[1999]!.text).toBe(rows[1999]!.text);
  });

  it('that are cut short, or none, say so; other JSON in a folder is passed over', async () => {
    put('cut.json', '[{"id":1,"text":"x"},{"id":2,"te');
    put('package.json', '{"name":"x"}');
    const { sources, report } = await read(root);
    expect([sources.length, report.otherFiles]).toEqual([1, 1]);
    expect(report.problems).toEqual(['cut.json: the array is not closed: the file is cut short']);
    await expect(read(join(root, 'package.json'))).rejects.toThrow(/package\.json: not an array/);
  });
});

describe('TSV', () => {
  it('with a header is read by the names of its columns', async () => {
    const { sources, report } = await read(put('a.tsv', 'id\ttext\ttitle\n1\t"He said ""go""."\tT\n2\tonly two\n'));
    expect(sources).toEqual([{ id: '1', title: 'T', text: 'He said "go".' }]);
    expect(report.problems).toEqual(['a.tsv:3: 2 columns; expected 3 as in the header']);
  });

  it.each([
    ['1\tsome text\tTitle', { id: '1', title: 'Title', text: 'some text' }],
    ['\uFEFF7\t"Title: Ann ""A"" Text:  She sang."\r', { id: '7', title: 'Ann "A"', text: 'She sang.' }],
    ['3\tAn Ox   An Ox is large.', { id: '3', title: 'An Ox', text: 'An Ox is large.' }],
    ['4\t"Yes" she said "no"', { id: '4', title: '', text: '"Yes" she said "no"' }],
  ])('without one: %j', async (line, source) => {
    expect(await one('a.tsv', line)).toEqual(source);
  });
});

describe('Parquet', () => {
  const columns = (ids: readonly (string | bigint)[]) => [
    { name: '_id', data: [...ids], type: typeof ids[0] === 'bigint' ? ('INT64' as const) : ('STRING' as const) },
    { name: 'title', data: ids.map((_, i) => (i === 1 ? null : `T${i}`)), type: 'STRING' as const },
    { name: 'text', data: ids.map((id) => `text of ${id}`), type: 'STRING' as const },
    { name: 'other', data: ids.map((_, i) => i), type: 'INT32' as const },
  ];
  const file = (ids: readonly (string | bigint)[]) =>
    new Uint8Array(parquetWriteBuffer({ columnData: columns(ids), rowGroupSize: 2 }));

  it('is read over its row groups', async () => {
    const { sources, report } = await read(put('a.parquet', file(['a', 'b', 'c'])));
    expect(sources).toEqual([
      { id: 'a', title: 'T0', text: 'text of a' },
      { id: 'b', title: '', text: 'text of b' },
      { id: 'c', title: 'T2', text: 'text of c' },
    ]);
    expect(report.bytes).toBe(report.totalBytes);
    expect((await read(put('b.parquet', file([1n, 2n])))).sources.map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('that is damaged is left out', async () => {
    put('a.parquet', 'PAR1 no');
    put('b.txt', 'fine');
    expect((await read(root)).report.problems).toEqual([expect.stringMatching(/^a\.parquet: Parquet cannot be read/)]);
  });
});

describe('several paths', () => {
  it('are told apart by the folder around them, and a folder can be left out', async () => {
    put('one/readme.md', 'first');
    put('two/readme.md', 'second');
    put('two/idx/passages.jsonl', '{"id":"own","text":"own"}');
    put('c.jsonl', '{"id":"c","text":"third"}');
    const paths = ['one', 'two', 'c.jsonl'].map((name) => join(root, name));
    const { sources } = await read(paths, { except: [join(root, 'two/idx')] });
    expect(sources.map(({ id }) => id)).toEqual(['one/readme.md', 'two/readme.md', 'c']);
  });
});

it('a strict reading ends at the first document that cannot be used', async () => {
  const path = put('a.jsonl', '{"id":1,"text":"x"}\n{"id":2}\n');
  await expect(read(path, { strict: true })).rejects.toThrow(UserError);
  await expect(read(path, { strict: true })).rejects.toThrow(/^a\.jsonl:2: no text/);
});

it.skipIf(!haveRealData())('upstream files are read whole', async () => {
  const rows = async (name: string): Promise<readonly [number, number]> => {
    const { sources, report } = await read(`${realData}raw/${name}`);
    return [sources.length, report.skipped];
  };
  expect(await rows('2wikimultihopqa/hipporag_2wikimultihopqa_corpus.json.gz')).toEqual([6119, 0]);
  expect(await rows('corpora/hipporag_sample_corpus.json')).toEqual([3, 0]);
  expect(await rows('corpora/r1searcher_kilt_passages_sample.tsv')).toEqual([93, 0]);
  expect(await rows('corpora/r1searcher_wiki_abs_sample_100.tsv')).toEqual([100, 0]);
  expect(await rows('corpora/search_r1_example_corpus.jsonl')).toEqual([10, 0]);
});

/** One page in Helvetica. */
function pdf(line: string, info: string): Buffer {
  const draw = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< ${info} >>`,
  ];
  let out = '%PDF-1.4\n';
  const starts = objects.map((object, i) => {
    const start = out.length;
    out += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return start;
  });
  const table = starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const trailer = `trailer << /Size ${size} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${out.length}\n%%EOF`;
  return Buffer.from(`${out}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`);
}
