import { describe, expect, it } from 'vitest';
import { clozeAuditor } from '../../src/auditor/cloze.ts';
import { alignBlank } from '../../src/text/cloze/align.ts';
import { clozeQuestions } from '../../src/text/cloze/questions.ts';
import { clozePassages } from '../../src/text/cloze/snippets.ts';
import { sources, tokenizer } from './fixture.ts';

const text = [
  'The island of Brannholm lies north of Sund and was settled in 1482 by fishermen from Askevik.',
  'Ole was born in Sund in 1901. Ida was born in Sund in 1903.',
];
const span = (question: string) => {
  const aligned = alignBlank(question, text);
  return aligned.found ? aligned.span : aligned.why;
};

describe('alignBlank', () => {
  it('finds the span whatever the spacing', () => {
    expect(span('The island of ____ lies north of Sund and was settled in 1482 by fishermen from Askevik.')).toBe(
      'Brannholm',
    );
    expect(span('The island  of____lies north of\nSund and was settled in 1482 by fishermen from Askevik.')).toBe(
      'Brannholm',
    );
    expect(span('Ole was born in Sund in ____.')).toBe('1901');
    expect(span('____ was born in Sund in 1903.')).toBe('Ida');
    expect(span('Ida was born in ____')).toBe('Sund in 1903.');
  });

  it('forgives a slip far from the blank, not one beside it', () => {
    expect(span('An isle of Brannholm lies north of ____ and was settled in 1482 by fishermen from Askvik.')).toBe(
      'Sund',
    );
    expect(span('The island of Brannholm lies south of ____ but was settled in 1482.')).toBe('not in the source');
  });

  it('is unresolved where several spans fit, where the blank is too wide and where it cuts a word', () => {
    expect(span('was born in Sund in ____')).toBe('several spans fit');
    expect(span('The ____ fishermen from Askevik.')).toBe('not in the source');
    expect(span('The island of Brann____ lies north of Sund')).toBe('not in the source');
    expect(span('Where was Ole born?')).toBe('no blank');
  });
});

describe('clozeAuditor', () => {
  const passages = text.map((t, i) => ({ id: `a#${i}`, source: 'a', title: 'A', text: t }));

  it('judges label and responses against the source', async () => {
    const question = 'The island of ____ lies north of Sund and was settled in 1482 by fishermen from Askevik.';
    const [right, elsewhere] = await clozeAuditor(passages).judge([
      { question, source: 'a', label: 'Askevik', responses: ['brannholm', 'the Brannholm.', 'Brann', null] },
      { question, source: 'b', label: 'Brannholm', responses: [] },
    ]);
    expect(right).toEqual({
      resolved: true,
      reference: 'Brannholm',
      labelCorrect: false,
      responseCorrect: [true, true, false, false],
    });
    expect(elsewhere).toEqual({ resolved: false, why: 'not in the source' });
  });

  it('agrees with every gold question', async () => {
    const all = sources.flatMap((source) => clozePassages(source, tokenizer));
    const gold = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((key) => clozeQuestions(all, 10, key));
    const verdicts = await clozeAuditor(all).judge(gold.map((q) => ({ ...q, label: q.answer, responses: [] })));
    expect(verdicts.filter((v) => !v.resolved || !v.labelCorrect)).toEqual([]);
  });
});
