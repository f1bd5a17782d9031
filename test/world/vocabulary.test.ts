import { describe, expect, it } from 'vitest';
import { compact } from '../../src/text/dialect/compact.ts';
import { tokenizerFrom } from '../../src/text/tokenizer.ts';
import { NAMES, RELATIONS, TYPES } from '../../src/world/names.ts';
import { encodeWords, tokenizerConfig, tokenizerJson, VOCABULARY } from '../../src/world/vocabulary.ts';
import { generateWorld } from '../../src/world/world.ts';

const tokenizer = tokenizerFrom(JSON.parse(JSON.stringify(tokenizerJson())), tokenizerConfig(320));

describe('vocabulary', () => {
  it('has the planned pools, and no two words differ by case only', () => {
    expect(TYPES.map((t) => [NAMES[t].first.length, NAMES[t].second.length])).toEqual([
      [32, 48],
      [40, 12],
      [32, 40],
      [40, 24],
    ]);
    expect(RELATIONS).toHaveLength(24);
    expect(new Set(VOCABULARY.map((w) => w.toLowerCase())).size).toBe(VOCABULARY.length);
    expect(VOCABULARY).toHaveLength(17 + 3 + 72 + 268);
  });
  it('gives every type six relations and every target at least two', () => {
    for (const type of TYPES) {
      const targets = RELATIONS.filter((r) => r.from === type).map((r) => r.to);
      expect(targets).toHaveLength(6);
      for (const to of targets) expect(targets.filter((t) => t === to).length).toBeGreaterThan(1);
    }
  });
});

describe('tokenizer files', () => {
  it('agree with the bulk encoder on everything a policy reads', () => {
    const world = generateWorld({ seed: 8 });
    world.sources.forEach((source, i) => {
      const hits = [{ passage: world.passages[i]!, score: 1 }];
      for (const pieces of [compact.proposerPrompt(source, 3), compact.searchResult(hits, null)])
        expect(tokenizer.encode(pieces)).toEqual(encodeWords(pieces));
    });
    expect(tokenizer.vocabSize).toBe(VOCABULARY.length);
  });
  it('make a page 26 tokens and drop punctuation, but not ? and ~', () => {
    const { title, text } = generateWorld({ seed: 8 }).passages[0]!;
    expect(tokenizer.encode([{ tag: '<doc>' }, text])).toHaveLength(26);
    expect(tokenizer.encode([`# ${title}`])).toHaveLength(2);
    const ids = tokenizer.encode(['mentor of founder of Brask Mills?', ' Port ~.']);
    expect(tokenizer.decode(ids)).toBe('mentor of founder of Brask Mills ? Port ~');
  });
  it('never turn plain text into a control token, and know an unknown word', () => {
    const ids = tokenizer.encode(['<end> <think> zebra Mara']);
    expect(tokenizer.decode(ids)).toBe('<unk> <unk> <unk> Mara');
    expect(encodeWords(['<end> <think> zebra Mara'])).toEqual([1, 1, 1, VOCABULARY.indexOf('Mara')]);
    expect(tokenizer.encode([{ tag: '<end>' }])).toEqual([VOCABULARY.indexOf('<end>')]);
    expect(() => encodeWords([{ tag: '<nope>' }])).toThrow('<nope>');
  });
});
