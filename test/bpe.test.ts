import { describe, expect, it } from 'vitest';
import { trainBpe } from '../src/text/bpe.ts';
import { byteSpelling, bytesOf } from '../src/text/byte-level.ts';
import { tokenizerFrom } from '../src/text/tokenizer.ts';

interface Json {
  readonly model: { readonly vocab: Record<string, number>; readonly merges: readonly [string, string][] };
}
const train = (texts: readonly string[], size: number, minCount = 1) =>
  trainBpe(texts, { size, control: ['<end>'], minCount })['tokenizer.json'] as Json;

describe('trainBpe', () => {
  it('merges the most frequent pair first, then counts again', () => {
    // Words: aab ×3, ab ×2. Pairs: (a,b) 5, (a,a) 3. After merging ab: (a,ab) 3.
    const { model } = train(['aab', 'aab', 'aab', 'ab', 'ab'], 1 + 256 + 5);
    expect(model.merges).toEqual([
      ['a', 'b'],
      ['a', 'ab'],
    ]);
    expect(model.vocab['<end>']).toBe(0);
    expect(model.vocab.aab).toBe(258);
    expect(Object.keys(model.vocab).length).toBe(259);
  });

  it('gives a tie to the smaller ids and merges runs from the left', () => {
    expect(train(['bc', 'ab'], 258).model.merges).toEqual([['a', 'b']]);
    const { model } = train(['aaaaa'], 259);
    expect(model.merges[0]).toEqual(['a', 'a']);
    expect(model.vocab.aaa).toBe(258); // aa aa a, and (aa, a) has the smaller ids
  });

  it('keeps words, numbers, underscores, back ticks and punctuation apart, each with its space', () => {
    const text = ' run (run `run` run_run 1932–run).';
    const { model } = train(Array(4).fill(text), 400);
    const tokens = Object.keys(model.vocab);
    expect(tokens).toContain('Ġrun');
    expect(tokens).toContain('Ġ1932');
    expect(tokens).toContain(').');
    expect(tokens.some((t) => /[a-z].*[`_(]|[`_(].*[a-z]|\d[^\d]/.test(t) && t !== '<end>')).toBe(false);
  });

  it('ignores rare words', () => {
    expect(train(['ab', 'ab', 'xy'], 300, 2).model.merges).toEqual([['a', 'b']]);
  });

  it('encodes by the merges it wrote', () => {
    const tokenizer = tokenizerFrom(train(['aab', 'aab', 'aab', 'ab'], 300), {});
    expect(tokenizer.encode(['aabab']).map((id) => tokenizer.decode([id]))).toEqual(['aab', 'ab']);
  });
});

describe('byte alphabet', () => {
  it('is that of GPT-2', () => {
    expect(byteSpelling(' é\n')).toBe('ĠÃ©Ċ');
    expect([...bytesOf('ĠÃ©Ċ')]).toEqual([32, 0xc3, 0xa9, 10]);
  });
});
