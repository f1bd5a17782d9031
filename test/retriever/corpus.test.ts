import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCorpusLine } from '../../src/retriever/corpus/line.ts';
import { readSources } from '../../src/retriever/corpus/read.ts';
import { newReport } from '../../src/retriever/corpus/report.ts';
import type { Source } from '../../src/types.ts';
import { UserError } from '../../src/util/error.ts';
import { haveRealData, realData } from './real.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'corpus-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(name: string, content: string | Buffer): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function read(path: string) {
  const report = newReport();
  const sources: Source[] = [];
  for await (const source of readSources(path, report)) sources.push(source);
  return { sources, report };
}

/** Whether a folder without permissions is shut to whoever runs this. */
function refusesMe(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'shut-'));
  try {
    chmodSync(dir, 0);
    readdirSync(dir);
    return false;
  } catch {
    return true;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const failure = (path: string): Promise<unknown> =>
  read(path).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a line of JSON', () => {
  it('survives a byte-order mark, Windows line ends and a number for an id', () => {
    const line = '\uFEFF{"id": 7, "contents": "\\"Ada Quill\\"\\nAda Quill was a cartographer."}\r\n';
    expect(parseCorpusLine(line)).toEqual({
      ok: true,
      doc: { id: '7', title: 'Ada Quill', text: 'Ada Quill was a cartographer.' },
      notes: ['bom_removed', 'crlf', 'id_to_string'],
    });
  });

  it.each([
    ['{"id":"a","title":"T","text":"x\\ny","more":1}', { id: 'a', title: 'T', text: 'x\ny' }],
    ['{"id":"a","text":"x"}', { id: 'a', title: '', text: 'x' }],
    [
      '{"id":"a","contents":"\\"\\"Heroes\\" (song)\\"\\nBy Bowie.\\nIn 1977."}',
      { id: 'a', title: '"Heroes" (song)', text: 'By Bowie.\nIn 1977.' },
    ],
    ['{"id":"a","contents":"Bare title\\nx"}', { id: 'a', title: 'Bare title', text: 'x' }],
    ['{"id":"a","contents":"only a text"}', { id: 'a', title: '', text: 'only a text' }],
    ['{"id":"a","title":"T","text":"line\u2028separator"}', { id: 'a', title: 'T', text: 'line\u2028separator' }],
  ])('%s', (line, doc) => {
    expect(parseCorpusLine(line)).toEqual({ ok: true, doc, notes: [] });
  });

  it.each([
    ['{"id":"a","text":"x"', /^not JSON .*; expected one object a line$/],
    ['[1]', /^not an object/],
    ['null', /^not an object/],
    ['{"text":"x"}', /^"id" is missing/],
    ['{"id":"","text":"x"}', /^"id" is ""/],
    ['{"id":{},"text":"x"}', /^"id" is {}/],
    ['{"id":12345678901234567890,"text":"x"}', /write a string/],
    ['{"id":"a","title":"T"}', /^no text/],
    ['{"id":"a","text":["x"]}', /^"text" is \["x"\]/],
    ['{"id":"a","contents":null}', /^"contents" is null/],
    ['{"id":"a","title":3,"text":"x"}', /^"title" is 3/],
    ['{"id":"a","text":" \\n"}', /^the text is empty$/],
    ['{"id":"a","contents":"\\"T\\"\\n"}', /^the text is empty$/],
  ])('%s is refused', (line, problem) => {
    expect(parseCorpusLine(line)).toMatchObject({ ok: false, problem: expect.stringMatching(problem) });
  });
});

describe('a folder', () => {
  it('is read below, in order of the paths, with headings for titles', async () => {
    put('b/two.md', '\uFEFFintro\r\n\r\n## Second *way* ##\r\ntext');
    put('b/rst.rst.gz', gzipSync('=====\nStars\n=====\n\nThey shine.'));
    put('a.txt', '# not a heading in plain text');
    put('c/d/e.jsonl', '{"id":"x","title":"X","text":"ex"}\n\n{"id":"y","contents":"\\"Y\\"\\nwhy"}');
    put('c/pic.png', 'png');
    put('.git/readme.md', '# hidden');
    put('B.markdown', 'no heading here');
    const { sources, report } = await read(root);
    expect(sources).toEqual([
      { id: 'B.markdown', title: 'B', text: 'no heading here' },
      { id: 'a.txt', title: 'a', text: '# not a heading in plain text' },
      { id: 'b/rst.rst.gz', title: 'Stars', text: '=====\nStars\n=====\n\nThey shine.' },
      { id: 'b/two.md', title: 'Second *way*', text: 'intro\n\n## Second *way* ##\ntext' },
      { id: 'x', title: 'X', text: 'ex' },
      { id: 'y', title: 'Y', text: 'why' },
    ]);
    expect(report).toMatchObject({
      files: 5,
      otherFiles: 1,
      sources: 6,
      skipped: 0,
      problems: [],
      repairs: { bom_removed: 1, crlf: 1, id_to_string: 0 },
    });
    expect(report.bytes).toBe(report.totalBytes);
  });

  it('follows links to files but not to folders', async () => {
    const outside = put('outside/note.md', 'a note');
    mkdirSync(join(root, 'corpus'));
    symlinkSync(outside, join(root, 'corpus/linked.md'));
    symlinkSync(root, join(root, 'corpus/round'));
    mkdirSync(join(root, 'corpus/.git'));
    put('corpus/.hidden.md', 'unseen');
    const { sources, report } = await read(join(root, 'corpus'));
    expect(sources.map((s) => s.id)).toEqual(['linked.md']);
    expect(report).toMatchObject({ files: 1, linkedFolders: 1, hidden: 2, skipped: 0 });
  });

  it('is read without what cannot be read in it, which is counted, unless it is strict', async () => {
    put('a/good.md', 'fine');
    symlinkSync('gone.md', join(root, 'a/dangling.md'));
    symlinkSync('round.md', join(root, 'a/round.md'));
    const { sources, report } = await read(root);
    expect(sources.map((s) => s.id)).toEqual(['a/good.md']);
    expect(report).toMatchObject({ files: 1, skipped: 2, skippedBy: { unreadable: 2 } });
    expect([...report.problems].sort()).toEqual([
      'a/dangling.md: cannot be read: it does not exist',
      'a/round.md: cannot be read: its symbolic links go in a circle',
    ]);
    await expect(readSources(root, newReport({ strict: true })).next()).rejects.toThrow(
      /^a\/(dangling|round)\.md: cannot be read: .* leave out --strict/,
    );
    rmSync(join(root, 'a/good.md'));
    expect(await failure(root)).toMatchObject({
      message: expect.stringMatching(
        /No document in the folder .*\(0 files of other kinds; not read: a\/\w+\.md: cannot/,
      ),
    });
  });

  // Root may read everything.
  it.skipIf(!refusesMe())('is read without files and folders that may not be read', async () => {
    put('good.md', 'fine');
    chmodSync(put('secret.md', 'no'), 0);
    put('shut/in.md', 'no');
    chmodSync(join(root, 'shut'), 0);
    const { sources, report } = await read(root).finally(() => chmodSync(join(root, 'shut'), 0o700));
    expect(sources.map((s) => s.id)).toEqual(['good.md']);
    expect(report.skippedBy.unreadable).toBe(2);
    expect([...report.problems].sort()).toEqual([
      'secret.md: cannot be read: permission is denied',
      'shut: cannot be read: permission is denied',
    ]);
  });

  it.each([
    ['after front matter', '---\ntitle: t\n# comment\n---\n# Real\n', 'Real'],
    ['after a code block', '```sh\n# comment\n```\n### Real\n', 'Real'],
    ['with an anchor', '# First Steps { #first-steps }\n', 'First Steps'],
    ['underlined', 'Real\n====\ntext', 'Real'],
    ['keeping C#', '# About C#\n', 'About C#'],
    ['not a hashtag', '#tag\n\n# Real', 'Real'],
    ['none', 'a - b\n\n---\n\nc', 'doc'],
  ])('Markdown heading: %s', async (_, text, title) => {
    put('doc.md', text);
    expect((await read(root)).sources[0]!.title).toBe(title);
  });

  it('keeps the good and counts the bad, by file and line', async () => {
    put(
      'a.jsonl',
      '{"id":1,"text":"one"}\r\n{"id":2,"text":\r\n[]\r\n{"id":"1","text":"again"}\r\n{"id":3,"text":"three"}\r\n',
    );
    put('b.md', ' \n');
    put('c.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    put(
      'd.jsonl',
      Buffer.concat([
        Buffer.from('{"id":"d\x1b[2J","text":"x"}\n{"id":"e","text":"'),
        Buffer.from([0xff]),
        Buffer.from('"}'),
      ]),
    );
    const { sources, report } = await read(root);
    expect(sources.map((s) => s.id)).toEqual(['1', '3']);
    expect(report.skipped).toBe(7);
    expect(report.skippedBy).toEqual({
      not_json: 2,
      malformed: 1,
      empty: 1,
      duplicate_id: 1,
      encoding: 2,
      damaged: 0,
      unreadable: 0,
    });
    expect(report.repairs.id_to_string).toBe(2);
    expect(report.problems).toEqual([
      expect.stringMatching(/^a\.jsonl:2: not JSON/),
      expect.stringMatching(/^a\.jsonl:3: not an object/),
      'a.jsonl:4: the id "1" is used twice',
      'b.md: the file is empty',
      'c.txt: not UTF-8 text; convert it (for example with iconv)',
      expect.stringMatching(/^d\.jsonl:1: not JSON/),
      'd.jsonl:2: not UTF-8 text; convert it (for example with iconv)',
    ]);
    expect(report.problems.join()).not.toContain('\x1b');
  });

  it('lists the first twenty problems and counts all', async () => {
    put('a.jsonl', `${'{}\n'.repeat(50)}{"id":"a","text":"x"}`);
    const { report } = await read(root);
    expect([report.skipped, report.problems.length]).toEqual([50, 20]);
  });
});

describe('a single file', () => {
  it('streams lines that cross chunks, plain and gzip', async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => ({
      id: `r${i}`,
      title: 'ü',
      text: `${i} ${'é€😀'.repeat(i % 300)}`,
    }));
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    for (const path of [put('a.jsonl', text), put('a.jsonl.gz', gzipSync(text))]) {
      expect((await read(path)).sources).toEqual(rows);
    }
  });

  it('may be left early', async () => {
    const path = put('a.jsonl.gz', gzipSync('{"id":"a","text":"x"}\n{"id":"b","text":"x"}\n'));
    for await (const source of readSources(path, newReport())) {
      expect(source.id).toBe('a');
      break;
    }
  });

  it('has its name for an id', async () => {
    expect((await read(put('deep/notes.txt', 'hello'))).sources).toEqual([
      { id: 'notes.txt', title: 'notes', text: 'hello' },
    ]);
  });
});

describe('what cannot be used says so', () => {
  const expected = /Expected \.md, \.rst or \.txt documents, or \.jsonl with/;

  it('no such path', async () => {
    const error = await failure(join(root, 'nowhere'));
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toMatch(/Cannot read .*nowhere: it does not exist/);
  });

  it('an empty folder, and one of other files', async () => {
    for (const kinds of [0, 1]) {
      const error = await failure(root);
      expect(error).toBeInstanceOf(UserError);
      expect(String(error)).toContain(`${kinds} files of other kinds`);
      expect(String(error)).toMatch(expected);
      put('pic.png', 'png');
    }
  });

  it('a file of another kind', async () => {
    const error = await failure(put('a.pdf', 'pdf'));
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toMatch(/a\.pdf as a corpus: unknown ending\. Expected/);
  });

  it('no usable document', async () => {
    const error = await failure(put('a.jsonl', '{"question":"?"}\n'));
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toMatch(/1 could not be used, for example a\.jsonl:1: "id" is missing/);
    expect(String(await failure(put('b.jsonl', '\n\n')))).toMatch(/it is empty/);
  });

  it('damaged and cut gzip', async () => {
    const good = gzipSync('{"id":"a","text":"x"}\n'.repeat(99));
    expect(String(await failure(put('a.jsonl.gz', 'plain')))).toMatch(
      /^UserError: Cannot read .*a\.jsonl\.gz: it is not gzip/,
    );
    expect(String(await failure(put('b.jsonl.gz', good.subarray(0, 30))))).toMatch(/^UserError: .*cut short/);
  });

  it.skipIf(!refusesMe())('a folder without permission', async () => {
    put('locked/a.md', 'x');
    chmodSync(join(root, 'locked'), 0);
    expect(String(await failure(root))).toMatch(/^UserError: .*permission is denied/);
    chmodSync(join(root, 'locked'), 0o700);
  });
});

it.skipIf(!haveRealData())('real corpora are read whole', async () => {
  const docs = await read(`${realData}raw/own_docs`);
  expect([docs.sources.length, docs.report.skipped]).toEqual([130, 0]);
  const [plain, flash] = [
    await read(`${realData}corpora/hotpotqa.jsonl.gz`),
    await read(`${realData}corpora/flashrag_format`),
  ];
  expect([plain.sources.length, flash.sources.length]).toEqual([5925, 500]);
  expect(flash.sources).toEqual(plain.sources.slice(0, 500));
});
