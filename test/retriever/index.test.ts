import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { collector } from '../../src/retriever/bm25/collect.ts';
import { bm25Settings } from '../../src/retriever/bm25/settings.ts';
import { bm25 } from '../../src/retriever/bm25.ts';
import { type BuildOptions, buildIndex } from '../../src/retriever/index/build.ts';
import { openIndex } from '../../src/retriever/index/open.ts';
import { readU32 } from '../../src/retriever/index/raw.ts';
import { mergeRuns, writeRun } from '../../src/retriever/index/runs.ts';
import { openWords, writeWords } from '../../src/retriever/index/words.ts';
import type { Encoder } from '../../src/retriever.ts';
import type { Passage } from '../../src/types.ts';
import { Interrupted, UserError } from '../../src/util/error.ts';
import { folder } from '../store/folder.ts';

let root: string;
let out: string;
beforeEach(() => {
  root = folder();
  out = join(root, 'idx');
});

const passage = (id: string, title: string, text: string): Passage => ({ id, source: id, title, text });

const corpus = [
  passage('p1', 'Oker', 'The Oker is a river in Lower Saxony.'),
  passage('p2', 'Łódź', 'Łódź is a city in central Poland.'),
  passage('p3', 'Twin', 'A lighthouse stands on the island.'),
  passage('p4', 'Twin', 'A lighthouse stands on the island.'),
  passage('p5', '東京', '東京は日本の首都です。'),
];

function written(passages: readonly Passage[], name = 'corpus.jsonl'): string {
  const path = join(root, name);
  writeFileSync(path, passages.map(({ id, title, text }) => `${JSON.stringify({ id, title, text })}\n`).join(''));
  return path;
}

const build = ({ inputs = [written(corpus)], ...options }: Partial<BuildOptions> = {}) =>
  buildIndex({ inputs, out, version: '1.2.3', command: 'crossfold index c --out i', ...options });

/** Two directions: texts with a city, and others. */
const encoder = (name = 'towns', dimension = 2): Encoder => ({
  name,
  dimension,
  prefixes: { query: 'query: ', passage: 'passage: ' },
  embed: async (texts) =>
    Float32Array.from(
      texts.flatMap((text) =>
        Array.from({ length: dimension }, (_, i) => Number(i === (/city|town/.test(text) ? 0 : 1))),
      ),
    ),
});

describe('an index on disk', () => {
  it('finds what the index in memory finds, with the same scores and fingerprint', async () => {
    const word = fc.constantFrom('a', 'bee', 'see', 'Dé', 'é', '東', 'x1', 'no');
    const sentence = fc.array(word, { minLength: 1, maxLength: 15 }).map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(fc.array(sentence, { minLength: 1, maxLength: 15 }), sentence, async (texts, query) => {
        const passages = texts.map((text, i) => passage(`p${i}`, `T${i % 2}`, text));
        await build({ inputs: [written(passages)] });
        const index = await openIndex(out);
        const memory = bm25(passages);
        expect(await index.search([query, 'none', 'T1'], 4)).toEqual(await memory.search([query, 'none', 'T1'], 4));
        expect(index.fingerprint).toBe(memory.fingerprint);
        await index.close();
      }),
      { numRuns: 25 },
    );
  });

  it('says in its manifest how it was made', async () => {
    const { manifest, report } = await build({ k1: 1.2, b: 0.75 });
    expect(manifest).toMatchObject({
      format: 2,
      crossfold: '1.2.3',
      corpus: /corpus=(\w+)/.exec(bm25(corpus).fingerprint)![1],
      passages: 5,
      sources: 5,
      inputs: [join(root, 'corpus.jsonl')],
      chunking: { words: 100 },
      analyzer: 'words-1',
      k1: 1.2,
      b: 0.75,
      fields: 'title+text',
      dense: null,
    });
    expect(report.skipped).toBe(0);
    expect(JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'))).toEqual(manifest);
    expect(readdirSync(root).sort()).toEqual(['corpus.jsonl', 'idx']);
    const index = await openIndex(out);
    expect(index.fingerprint).toBe(bm25(corpus, { k1: 1.2, b: 0.75 }).fingerprint);
    expect(index.manifest).toEqual(manifest);
    await index.close();
  });

  it('gives passages by place, in any order', async () => {
    await build();
    const { passages, close } = await openIndex(out);
    expect(passages.size).toBe(5);
    expect(await passages.get([1, 2, 3, 0, 4, 4])).toEqual([1, 2, 3, 0, 4, 4].map((at) => corpus[at]));
    expect(await passages.get([])).toEqual([]);
    await expect(passages.get([5])).rejects.toThrow(RangeError);
    await close();
  });

  it('cuts long documents, and every passage knows its source', async () => {
    writeFileSync(join(root, 'long.txt'), 'The old mill by the river grinds no corn. '.repeat(60));
    writeFileSync(join(root, 'short.md'), '# Short\n\nOne line.');
    const { manifest } = await build({ inputs: [join(root, 'long.txt'), join(root, 'short.md')] });
    expect([manifest.sources, manifest.passages]).toEqual([2, 6]);
    const index = await openIndex(out);
    const all = await index.passages.get([0, 1, 2, 3, 4, 5]);
    expect(all.map(({ id, source, title }) => [id, source, title])).toEqual([
      ...[1, 2, 3, 4, 5].map((n) => [`long.txt#${n}`, 'long.txt', 'long']),
      ['short.md', 'short.md', 'Short'],
    ]);
    await index.close();
    expect((await build({ inputs: [join(root, 'long.txt')], words: 0 })).manifest.passages).toBe(1);
  });

  it('replaces an older index, and is the same again from the same files', async () => {
    const first = (await build()).manifest;
    await build({ inputs: [written(corpus.slice(1), 'other.jsonl')] });
    expect((await build()).manifest).toEqual(first);
  });
});

describe('words and postings on disk', () => {
  it('are found by their number, and others are not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 })),
        fc.string(),
        async (all, other) => {
          const words = new Map(all.map((word, i) => [word, i]));
          writeWords(root, words);
          const find = await openWords(root);
          for (const [word, id] of words) expect(find(word)).toBe(id);
          if (!words.has(other)) expect(find(other)).toBeUndefined();
        },
      ),
      { numRuns: 50 },
    );
  });

  it('merged from several runs are those of one', async () => {
    const texts = Array.from({ length: 60 }, (_, i) => `w${i % 7} w${i % 11} w${i % 3} only${i}`);
    const merged = async (every: number) => {
      const dir = join(root, String(every));
      mkdirSync(dir);
      const collected = collector(4);
      const runs = [];
      for (const [i, text] of texts.entries()) {
        collected.add(text);
        if ((i + 1) % every === 0) runs.push(writeRun(join(dir, `run${i}`), collected.take()));
      }
      runs.push(writeRun(join(dir, 'last'), collected.take()));
      const lengths = collected.lengths.done();
      const words = collected.words.size;
      await mergeRuns({ dir, runs, words, lengths, settings: bm25Settings({}), progress: () => {} });
      const columns = ['bm25.start.u32', 'bm25.passage.u32', 'bm25.impact.f32'];
      expect(readdirSync(dir).sort()).toEqual([...columns].sort());
      return Promise.all(columns.map((name) => readU32(join(dir, name))));
    };
    expect(await merged(7)).toEqual(await merged(1000));
    expect(await merged(1)).toEqual(await merged(60));
  });
});

describe('only whole indexes open', () => {
  it('not a folder without one', async () => {
    await expect(openIndex(out)).rejects.toThrow(/idx: no such folder; build an index with "crossfold index/);
    mkdirSync(out);
    await expect(openIndex(out)).rejects.toThrow(/no index here \(manifest\.json is missing\)/);
  });

  it('not after any file was cut, removed or lengthened', async () => {
    const { manifest } = await build();
    for (const [name, { bytes: size }] of Object.entries(manifest.files)) {
      const file = join(out, name);
      const before = readFileSync(file);
      truncateSync(file, size - 1);
      await expect(openIndex(out), name).rejects.toThrow(`${name} has ${size - 1} bytes, the manifest says ${size}`);
      renameSync(file, `${file}.away`);
      await expect(openIndex(out), name).rejects.toThrow(`${name} is missing`);
      writeFileSync(file, Buffer.concat([before, Buffer.from('x')]));
      await expect(openIndex(out), name).rejects.toThrow(UserError);
      writeFileSync(file, before);
    }
    await (await openIndex(out)).close();
  });

  it('not after a byte of any file was changed, whatever is searched', async () => {
    const { manifest } = await build({ encoder: encoder() });
    const sizes = Object.entries(manifest.files);
    expect(sizes.map(([name]) => name)).toContain('dense/vectors.f32');
    for (const [name, { bytes }] of sizes) {
      const file = join(out, name);
      const before = readFileSync(file);
      const damaged = Buffer.from(before);
      damaged[bytes >> 1]! ^= 1;
      writeFileSync(file, damaged);
      await expect(openIndex(out), name).rejects.toThrow(
        new UserError(
          `${file} is damaged: its checksum is not that of the manifest; copy the index again or build it again`,
        ),
      );
      writeFileSync(file, before);
    }
    await (await openIndex(out)).close();
  });

  it('keeps the checksums that anyone computes', async () => {
    const { manifest } = await build();
    for (const [name, { sha256 }] of Object.entries(manifest.files))
      expect(sha256, name).toBe(
        createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex'),
      );
    const { 'words.txt': _, ...files } = manifest.files;
    writeFileSync(join(out, 'manifest.json'), JSON.stringify({ ...manifest, files }));
    await expect(openIndex(out)).rejects.toThrow(/manifest\.json does not list words\.txt; build the index again/);
  });

  it.each([
    ['{"format":1}', /an index of format 1; this version reads 2\. Build it again/],
    ['{"format":2}', /not the manifest of an index \(crossfold:/],
    ['{', /not the manifest of an index/],
  ])('not with the manifest %s', async (manifest, message) => {
    await build();
    writeFileSync(join(out, 'manifest.json'), manifest);
    await expect(openIndex(out)).rejects.toThrow(message);
  });

  it('not with words that were cut otherwise', async () => {
    const { manifest } = await build();
    writeFileSync(join(out, 'manifest.json'), JSON.stringify({ ...manifest, analyzer: 'words-0' }));
    await expect(openIndex(out)).rejects.toThrow(/cut by "words-0", this version cuts by "words-1"/);
  });

  it('not when the build was stopped: it names the command, which then starts afresh', async () => {
    const stop = new AbortController();
    const progress = ({ phase }: { phase: string }): void => {
      if (phase === 'reading') stop.abort();
    };
    await expect(build({ signal: stop.signal, progress })).rejects.toThrow(Interrupted);
    for (const dir of [out, `${out}.building`])
      await expect(openIndex(dir)).rejects.toThrow(/was not finished; run it again:\n {2}crossfold index c --out i/);
    expect(existsSync(out)).toBe(false);
    writeFileSync(join(`${out}.building`, 'run-0.tmp'), 'left over');
    await build();
    expect(existsSync(`${out}.building`)).toBe(false);
    await (await openIndex(out)).close();
  });
});

describe('what is in the way', () => {
  it('of the index or of its building stays as it is', async () => {
    for (const dir of [out, `${out}.building`]) {
      mkdirSync(dir);
      writeFileSync(join(dir, 'thesis.txt'), 'years of work');
      await expect(build()).rejects.toThrow(/is not empty and no index: it is left as it is/);
      expect(readFileSync(join(dir, 'thesis.txt'), 'utf8')).toBe('years of work');
      rmSync(dir, { recursive: true });
    }
    writeFileSync(out, 'a file');
    await expect(build()).rejects.toThrow(/is a file/);
  });

  it('an empty folder is taken, and an index never reads itself', async () => {
    written(corpus);
    mkdirSync(out);
    await build({ inputs: [root] });
    const again = await build({ inputs: [root] });
    expect([again.manifest.passages, again.report.files]).toEqual([5, 1]);
  });

  it('a bad corpus or setting leaves nothing behind', async () => {
    writeFileSync(join(root, 'bad.jsonl'), '{"id":1}\n');
    const inputs = [join(root, 'bad.jsonl')];
    await expect(build({ inputs })).rejects.toThrow(/No document in/);
    await expect(build({ inputs, strict: true })).rejects.toThrow(/^bad\.jsonl:1: no text.*--strict/);
    await expect(build({ words: 3 })).rejects.toThrow(/words is 3; expected/);
    await expect(build({ b: 2 })).rejects.toThrow(/b is 2/);
    expect(readdirSync(root).sort()).toEqual(['bad.jsonl', 'corpus.jsonl']);
  });
});

describe('an index with vectors', () => {
  it('is searched by words, by meaning and by both', async () => {
    const { manifest } = await build({ encoder: encoder(), encoderSpec: 'http://localhost/v1#towns' });
    expect(manifest).toMatchObject({
      dense: { encoder: 'towns', dimension: 2, rows: 5 },
      encoderSpec: 'http://localhost/v1#towns',
    });
    const best = async (options: Parameters<typeof openIndex>[1], query = 'town lighthouse') => {
      const index = await openIndex(out, options);
      const [hits] = await index.search([query], 2);
      await index.close();
      return hits!.map((hit) => hit.passage.id);
    };
    expect(await best({})).toEqual(['p3', 'p4']);
    expect(await best({ mode: 'dense', encoder: encoder() })).toEqual(['p2', 'p1']);
    expect(new Set(await best({ encoder: encoder() }))).toEqual(new Set(['p3', 'p4']));
    expect(new Set(await best({ mode: 'hybrid', encoder: encoder() }))).toEqual(new Set(['p3', 'p4']));
  });

  it('opens with its own encoder only', async () => {
    await build({ encoder: encoder() });
    await expect(openIndex(out, { mode: 'dense', encoder: encoder('villages', 3) })).rejects.toThrow(
      /towns \(dimension 2.*villages \(dimension 3/,
    );
    await expect(openIndex(out, { mode: 'dense' })).rejects.toThrow(/encoded by towns; give that encoder/);
    await build();
    await expect(openIndex(out, { mode: 'hybrid', encoder: encoder() })).rejects.toThrow(/has no vectors/);
  });

  it('keeps its vectors when the build is stopped', async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const counting: Encoder = {
      ...encoder(),
      embed: (texts, as) => {
        seen.push(...texts);
        return encoder().embed(texts, as);
      },
    };
    const progress = ({ phase, done }: { phase: string; done: number }): void => {
      if (phase === 'encoding' && done > 0) stop.abort();
    };
    const many = Array.from({ length: 600 }, (_, i) => passage(`p${i}`, '', `text ${i}`));
    const inputs = [written(many, 'many.jsonl')];
    // Told after the first block that the stop came; the block is kept.
    await expect(build({ inputs, encoder: counting, signal: stop.signal, progress })).rejects.toThrow();
    const before = seen.length;
    expect(before).toBeGreaterThan(0);
    const { manifest } = await build({ inputs, encoder: counting });
    expect(manifest.dense?.rows).toBe(600);
    expect(seen.length).toBe(600);
  });
});
