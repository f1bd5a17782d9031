import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paragraphsOf } from '../../src/text/cloze/clean.ts';
import { clozeQuestions } from '../../src/text/cloze/questions.ts';
import { sentencesOf } from '../../src/text/cloze/sentences.ts';
import { clozePassages, snippetsOf } from '../../src/text/cloze/snippets.ts';
import { clozesOf } from '../../src/text/cloze/spans.ts';
import { sidesOf, statementOf } from '../../src/text/cloze/statement.ts';
import { islands, manual, sources, tokenizer } from './fixture.ts';

const spans = (sentence: string) => clozesOf(sentence).map((cloze) => cloze.span);

describe('paragraphs', () => {
  it('are the prose of a Markdown file without its markup', () => {
    expect(paragraphsOf(manual.text)).toEqual([
      'Call `open_pantry` with a `Shelf` to list what is stored, and pass `strict=True` when a missing jar should raise `JarError`.',
      'Since version 2.4 the pantry keeps its index in SQLite instead of plain files on disk.',
    ]);
  });

  it('are the prose of a reStructuredText file without its markup', () => {
    const text = [
      'PEP: 1',
      'Title: How to keep a larder',
      '',
      'Why jars break',
      '==============',
      '',
      'The :class:`~larder.Jar` type is described in `the guide <https://example.org>`_ and wraps ``glass`` as *lightly* as it can [1]_.',
      '',
      'This shows how it is done in practice by most people who try it::',
      '',
      '    jar = Jar()',
      '',
      '.. note:: nothing in here is worth reading for anyone at all, really',
    ].join('\n');
    expect(paragraphsOf(text)).toEqual([
      'The `larder.Jar` type is described in the guide and wraps `glass` as lightly as it can.',
    ]);
  });

  it('leave running text alone', () => {
    const text = 'Ada (born 3 May 1901 – died 1980) wrote "On 2 * 3" and f(x) = a*b for snake_case_fans in Torsby.';
    expect(paragraphsOf(text)).toEqual([text]);
  });

  it('exist for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const paragraph of paragraphsOf(text)) expect(paragraph).not.toMatch(/\n|^\s|\s$/);
      }),
    );
  });
});

describe('sentences', () => {
  it('do not end at abbreviations, initials and decimals', () => {
    expect(
      sentencesOf('It was drawn by Mr. Lunde (c. 1850). J. R. Moe, e.g. Robert, paid 3.5 crowns. "Too much!" he said.'),
    ).toEqual([
      'It was drawn by Mr. Lunde (c. 1850).',
      'J. R. Moe, e.g. Robert, paid 3.5 crowns.',
      '"Too much!" he said.',
    ]);
  });
});

describe('spans', () => {
  it('are names, numbers, dates and code', () => {
    expect(
      spans('In the year of 1482 fishermen from New Askevik met Ole of Sund on 4 May 1963, not May 5, 1964.'),
    ).toEqual(['1482', 'New Askevik', 'Ole of Sund', '4 May 1963', 'May 5, 1964']);
    expect(spans('Then call `open_pantry()` or max_jars with `Shelf`, about 3,400.5 times.')).toEqual([
      'open_pantry()',
      'max_jars',
      'Shelf',
      '3,400.5',
    ]);
  });

  it('leave out what the rest of the sentence gives away, what opens it and what is no name', () => {
    expect(spans('Sund is near Sund.')).toEqual([]);
    expect(spans('The Kalla ferry leaves at 9.')).toEqual(['9']);
    expect(spans('The ferry that I take with Mr. Moe is A.')).toEqual(['Moe']);
    expect(spans('He wrote ____ to Torsby.')).toEqual([]);
  });

  it('keep the words whole and the sentence intact', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('Sund', 'al-Moe', '1482', 'x_y', '`', '(', 'é', '. ', ' ', ', ', "'s", 'lies')),
        (parts) => {
          const text = parts.join('');
          for (const { left, span, right } of clozesOf(text)) {
            expect(text).toContain(left + span + right);
            expect(`${left.at(-1)}${span[0]}`).not.toMatch(/[\p{L}\p{N}]{2}/u);
            expect(`${span.at(-1)}${right[0] ?? ''}`).not.toMatch(/[\p{L}\p{N}]{2}/u);
          }
        },
      ),
    );
  });
});

describe('snippets', () => {
  it('are whole sentences of at most 60 tokens, in order', () => {
    const snippets = snippetsOf(islands.text, tokenizer);
    expect(snippets.length).toBeGreaterThan(2);
    for (const snippet of snippets) expect(tokenizer.encode([` ${snippet}`]).length).toBeLessThanOrEqual(60);
    expect(islands.text.replace(/\s+/g, ' ').startsWith(snippets[0]!)).toBe(true);
    expect(snippets[0]!.endsWith('.')).toBe(true);
  });

  it('cut a sentence that is too long at a word', () => {
    const [snippet, ...more] = snippetsOf(`The count of geese ${'near Askevik and Sund '.repeat(30)}ends.`, tokenizer);
    expect(more).toEqual([]);
    expect(tokenizer.encode([` ${snippet}`]).length).toBeLessThanOrEqual(60);
    expect(snippet).toMatch(/ (?:near|Askevik|and|Sund)$/);
    expect(snippetsOf(`${'x'.repeat(500)} is what it says here on this very long line`, tokenizer).length).toBe(1);
  });

  it('are the passages of a source', () => {
    const passages = clozePassages(manual, tokenizer);
    expect(passages[0]).toMatchObject({ id: 'manual#0', source: 'manual', title: 'Pantry manual' });
    expect(passages.map((passage) => passage.text)).toEqual(snippetsOf(manual.text, tokenizer));
  });
});

describe('questions', () => {
  const passages = sources.flatMap((source) => clozePassages(source, tokenizer));

  it('blank a span of a passage of their source, and are the same each time', () => {
    const questions = clozeQuestions(passages, 3, 'a');
    expect(questions.length).toBe(3);
    expect(new Set(questions.map((q) => q.passage)).size).toBe(3);
    for (const { question, answer, source, passage } of questions) {
      const text = passages.find((p) => p.id === passage)!;
      expect(text.source).toBe(source);
      expect(text.text).toContain(question.replace('____', answer));
    }
    expect(clozeQuestions(passages, 3, 'a')).toEqual(questions);
    expect(clozeQuestions(passages, 2, 'a')).toEqual(questions.slice(0, 2));
    expect(clozeQuestions(passages, 3, 'b')).not.toEqual(questions);
  });

  it('show the blank as four underscores', () => {
    const cloze = { left: 'It lies near ', span: 'Sund', right: ', they say.' };
    expect(statementOf(cloze)).toBe('It lies near ____, they say.');
    expect(sidesOf('It lies near ____, they say.')).toEqual({ left: 'It lies near ', right: ', they say.' });
    expect(sidesOf('Where is Sund?')).toEqual({ left: 'Where is Sund?', right: '' });
  });
});
