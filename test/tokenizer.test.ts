import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../src/engine/tokenizer-file.ts';
import { trainBpe } from '../src/text/bpe.ts';
import { tokenizerFrom } from '../src/text/tokenizer.ts';

const control = ['<end>', '<blank>', '</blank>'];
const files = trainBpe(['The ferry to Öland leaves at 9. The ferry returns at 17.', 'the ferry, the theatre'], {
  size: 290,
  control,
  minCount: 1,
});
const bytes = tokenizerFrom(files['tokenizer.json'], files['tokenizer_config.json']);

const added = (content: string, id: number) => ({ id, content, special: true, normalized: false });
const wordLevel = {
  added_tokens: [added('<end>', 0), added('<unk>', 1)],
  normalizer: null,
  pre_tokenizer: { type: 'WhitespaceSplit' },
  post_processor: null,
  decoder: null,
  model: { type: 'WordLevel', unk_token: '<unk>', vocab: { '<end>': 0, '<unk>': 1, the: 2, ferry: 3, left: 4 } },
};
const words = tokenizerFrom(wordLevel, {});

const noisy = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('<', 'end>', '<end>', '</blank>', '<blank', ' ', 'ferry', 'Ö', '🚢', '9', '\n'))
    .map((x) => x.join('')),
);

describe('byte-level', () => {
  it('gives back any text and never a control token for it', () => {
    fc.assert(
      fc.property(noisy, (text) => {
        const ids = bytes.encode([text]);
        expect(bytes.decode(ids)).toBe(text);
        expect(ids.every((id) => id >= control.length)).toBe(true);
      }),
    );
  });

  it('ends where each prefix of the text is complete', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 289 })), (ids) => {
        const ends = bytes.ends(ids);
        expect(ends.length).toBe(ids.length);
        expect(ends.at(-1) ?? 0).toBe(bytes.decode(ids).length);
        expect(ends.every((end, i) => end >= (ends[i - 1] ?? 0))).toBe(true);
      }),
    );
  });

  it('counts a character when its last byte arrives', () => {
    const ids = bytes.encode(['🚢', { tag: '<end>' }]);
    expect(ids.length).toBe(5);
    expect(bytes.ends(ids)).toEqual([0, 0, 0, 2, 7]);
    expect(bytes.decode(ids)).toBe('🚢<end>');
  });

  it('shows a character that is cut off as U+FFFD, charged to the last token before the control token', () => {
    const [a, b] = bytes.encode(['🚢']);
    const ids = [a!, b!, bytes.tag('<end>')];
    expect(bytes.decode(ids)).toBe('\ufffd<end>');
    expect(bytes.ends(ids)).toEqual([0, 1, 6]);
  });

  it('writes a tag as one token and its literal as several', () => {
    expect(bytes.encode([{ tag: '<blank>' }])).toEqual([1]);
    expect(bytes.encode(['<blank>']).length).toBeGreaterThan(1);
    expect(() => bytes.tag('<search>')).toThrow('no control token <search>');
    expect(bytes.vocabSize).toBe(290);
  });
});

describe('WordLevel', () => {
  it('joins words with one space and counts it with the later word', () => {
    const ids = words.encode(['the  ferry', { tag: '<end>' }, 'sank']);
    expect(ids).toEqual([2, 3, 0, 1]);
    expect(words.decode(ids)).toBe('the ferry <end> <unk>');
    expect(words.ends(ids)).toEqual([3, 9, 15, 21]);
    expect(words.decode([])).toBe('');
  });

  it('holds a vocabulary of 200,000 words', () => {
    const vocab = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`w${i}`, i + 2]));
    const model = { type: 'WordLevel', unk_token: '<unk>', vocab: { '<end>': 0, '<unk>': 1, ...vocab } };
    expect(tokenizerFrom({ ...wordLevel, model }, {}).vocabSize).toBe(200_002);
  });

  it('never reads a control token out of text', () => {
    expect(words.encode(['<end> the <end>'])).not.toContain(0);
    fc.assert(fc.property(noisy, (text) => !words.encode([text]).includes(0)));
  });

  it('never reads one that a normalizer makes', () => {
    const folding = tokenizerFrom({ ...wordLevel, normalizer: { type: 'NFKC' } }, {});
    expect(folding.encode(['＜end＞ ferry'])).not.toContain(0);
    expect(folding.encode(['ｆerry'])).toEqual([3]);
  });
});

describe('files', () => {
  it('loads a directory', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'tokenizer-'));
    await writeFile(join(dir, 'tokenizer.json'), JSON.stringify(files['tokenizer.json']));
    expect((await loadTokenizer(dir)).encode(['The ferry'])).toEqual(bytes.encode(['The ferry']));
  });

  it('says what is wrong with a file', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'tokenizer-'));
    await expect(loadTokenizer(dir)).rejects.toThrow('tokenizer.json does not exist');
    await writeFile(join(dir, 'tokenizer.json'), '{');
    await expect(loadTokenizer(dir)).rejects.toThrow('is not JSON');
    expect(() => tokenizerFrom({ model: {} }, {})).toThrow('added_tokens');
    expect(() => tokenizerFrom({ ...wordLevel, decoder: { type: 'WordPiece' } }, {})).toThrow('"WordPiece"');
  });
});
