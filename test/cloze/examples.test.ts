import { describe, expect, it } from 'vitest';
import { docsSet } from '../../src/recipe/reader-text.ts';
import { cloze } from '../../src/text/dialect/cloze.ts';
import { oneTitleIn, readerCorpus, readerTokenizer, type TextSet } from '../../src/train/pretrain/reader-corpus.ts';
import { LONGEST_EXAMPLE, readerExamples } from '../../src/train/pretrain/reader-examples.ts';
import { islands, manual, tokenizer } from './fixture.ts';

const set = (documents = [islands, manual], heldOutOneIn = 1_000_000): TextSet => ({
  name: 'fixture',
  documents,
  isHeldOut: (title) => oneTitleIn(title, heldOutOneIn),
  weight: 1,
  vocabularyTimes: 2,
});
const runsOf = (tokens: readonly number[], weights: readonly number[]): number[][] => {
  const runs: number[][] = [];
  tokens.forEach((id, i) => {
    if (weights[i] !== 1) return;
    if (weights[i - 1] === 1) runs.at(-1)!.push(id);
    else runs.push([id]);
  });
  return runs;
};
const corpus = readerCorpus([set()], tokenizer, 'train');
const examples = [...readerExamples(corpus, 'k', 0.5, 200)].map(({ tokens, weights }) => ({
  tokens,
  weights,
  text: tokenizer.decode(tokens),
  /** Runs of predicted tokens with weight 1, as text. */
  learnt: runsOf(tokens, weights).map((run) => tokenizer.decode(run)),
}));
const texts = corpus.parts[0]!.passages.map((passage) => passage.text);
const startingWith = (tag: string) => examples.filter(({ text }) => text.startsWith(tag));

describe('readerExamples', () => {
  it('fit, are weighted token for token and come in the three kinds', () => {
    for (const { tokens, weights } of examples) {
      expect(tokens.length).toBeLessThanOrEqual(LONGEST_EXAMPLE);
      expect(weights.length).toBe(tokens.length);
      expect(weights[0]).toBe(0);
      expect(Math.max(...weights)).toBe(1);
    }
    // 24 : 30 : 46 of 200
    expect(startingWith('<results>').length).toBeGreaterThan(35);
    expect(startingWith('<question>').length).toBeGreaterThan(45);
    expect(startingWith('<propose>').length).toBeGreaterThan(75);
  });

  it('are the same for the same key and others for another', () => {
    const tokens = (key: string) => [...readerExamples(corpus, key, 0, 5)].map((example) => example.tokens);
    expect(tokens('k')).toEqual(tokens('k'));
    expect(tokens('k')).not.toEqual(tokens('l'));
  });

  it('dense: answers stand in the passages and no question comes twice', () => {
    for (const { text } of startingWith('<results>')) {
      const [passages, ...turns] = text.split('<question>');
      expect(passages!.split('<passage>').length).toBeGreaterThanOrEqual(3);
      const asked = turns.map((turn) => turn.replace('<end>', ''));
      expect(new Set(asked).size).toBe(asked.length);
      expect(turns.every((turn) => turn.endsWith('<end>'))).toBe(true);
    }
  });

  it('conversations: search, see the passage, answer', () => {
    for (const { text, learnt } of startingWith('<question>')) {
      const [first, ...rest] = text.split('<search><end>');
      const [, results] = /^<results>(.*?)<question>/.exec(rest[0]!)!;
      const shown = results!.split('<passage> ').slice(1);
      expect(shown.every((passage) => texts.includes(passage))).toBe(true);
      expect(rest[0]).toContain(first);
      expect(learnt[0]).toBe('<search><end>');
      const answer = learnt[1]!.replace('<end>', '').trim();
      expect(shown.some((passage) => passage.includes(answer))).toBe(true);
      expect(text.endsWith(learnt[1]!)).toBe(true);
    }
  });

  it('writing: a sentence of the passage with its span', () => {
    for (const { text, learnt } of startingWith('<propose>')) {
      const passages = [...text.matchAll(/<passage> (.*?)<write>/g)].map((match) => match[1]!);
      expect(passages.length).toBe(learnt.length);
      learnt.forEach((turn, i) => {
        const { action, formatOk } = cloze.parse(turn, { reason: 'stop' }, null);
        expect(formatOk && action.type === 'propose').toBe(true);
        if (action.type === 'propose') expect(passages[i]).toContain(action.question.replace('____', action.answer));
      });
    }
  });
});

describe('readerCorpus', () => {
  const plain = (id: string, text: string) => ({ id, title: id, text });
  const a = plain(
    'a',
    'The harbour of Kalla was rebuilt by Edvard Lunde after the storm of 1871 and opened a year later.',
  );
  const b = plain(
    'b',
    'Some say that Kalla was rebuilt by Edvard Lunde after the storm of 1871, yet Marta Ekdahl denies it firmly.',
  );
  const c = plain(
    'c',
    'Nobody in the village of Torsby remembers who first sold Ida the boat that she sailed to Sund.',
  );

  it('holds out titles by hash', () => {
    const titles = Array.from({ length: 400 }, (_, i) => `Title ${i}`);
    const share = titles.filter((title) => oneTitleIn(title, 4)).length;
    expect(share).toBeGreaterThan(70);
    expect(share).toBeLessThan(130);
    expect(oneTitleIn('ÖST', 4)).toBe(oneTitleIn('öst', 4));
    const documents = Array.from({ length: 12 }, (_, i) =>
      plain(`t${i}`, `In the village of Torsby${i} nobody ever asks why boat${i} of old Ida${i} sank.`),
    );
    const names = (split: 'train' | 'heldOut') =>
      readerCorpus([set(documents, 2)], tokenizer, split).parts[0]!.passages.map((p) => p.source);
    expect(names('heldOut').every((name) => oneTitleIn(name, 2))).toBe(true);
    expect(names('train').some((name) => oneTitleIn(name, 2))).toBe(false);
    expect([...names('train'), ...names('heldOut')].length).toBe(12);
  });

  it('drops passages that share eight words in a row with barred text, and repeated ones', () => {
    const train = readerCorpus([set([a, c, { ...c, id: 'd' }])], tokenizer, 'train', [b]);
    expect(train.parts[0]!.passages.map((p) => p.source)).toEqual(['c']);
  });

  it('says when a set has nothing to ask', () => {
    expect(() => readerCorpus([set([plain('e', 'nothing here')])], tokenizer, 'train')).toThrow('"fixture"');
  });

  it('holds out one of few documents of a folder, whichever they are', () => {
    for (const documents of [
      [a, c],
      [a, b, c],
      [a, c, plain('e', 'nothing here')],
    ]) {
      const docs = docsSet('./handbook', documents);
      const held = documents.filter(({ title }) => docs.isHeldOut(title));
      expect(held.length).toBe(1);
      expect(held[0]!.title).not.toBe('e');
    }
    expect(() => docsSet('./handbook', [a, plain('e', 'nothing here')])).toThrow(
      './handbook: 1 of 2 documents have a sentence with a name, number, date or identifier to ask about; at least 2 with',
    );
    expect(() => docsSet('./handbook', [a, { ...c, title: 'A' }])).toThrow('at least 2 with different titles');
  });

  it('makes a vocabulary with the control tokens first', () => {
    const { model } = readerTokenizer([{ ...set(), vocabularyTimes: 3 }])['tokenizer.json'] as {
      model: { vocab: Record<string, number> };
    };
    expect(model.vocab['<pad>']).toBe(0);
    expect(model.vocab['<notice>']).toBe(11);
    expect(model.vocab.ĠSund).toBeGreaterThan(267);
  });
});
