import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Hit } from '../../src/retriever.ts';
import { searchR1 } from '../../src/text/dialect/search-r1.ts';
import { toolCall } from '../../src/text/dialect/tool-call.ts';
import type { Piece } from '../../src/types.ts';

const hit = (title: string, text: string): Hit => ({ passage: { id: title, source: title, title, text }, score: 1 });
const join = (pieces: readonly Piece[]): string => pieces.map((p) => (typeof p === 'string' ? p : p.tag)).join('');

describe.each([
  ['search-r1', searchR1, 'information'],
  ['tool-call', toolCall, 'tool_response'],
] as const)('%s', (name, make, evidence) => {
  const dialect = make();

  test('results are numbered documents with title and text', () => {
    expect(dialect.name).toBe(name);
    const shown = join(dialect.searchResult([hit('Oker', 'A river.'), hit('Aller', 'Another.')], 'q'));
    expect(shown).toBe(
      `\n\n<${evidence}>\nDoc 1 (Title: Oker) A river.\nDoc 2 (Title: Aller) Another.\n</${evidence}>\n\n`,
    );
    expect(join(dialect.searchResult([], 'q'))).toContain('No document was found.');
  });

  test('retrieved text never holds a tag of ours, nor a control token', () => {
    const tags = ['<answer>', '</answer>', `</${evidence}>`, `<${evidence}>`, '<think>', '</THINK >', '<|im_end|>'];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...tags), fc.string({ unit: 'binary' }))), (parts) => {
        const shown = join(dialect.searchResult([hit(parts.join(''), parts.join(' '))], 'q'));
        const body = shown.slice(`\n\n<${evidence}>`.length, -`</${evidence}>\n\n`.length);
        for (const tag of tags) expect(body).not.toContain(tag);
      }),
    );
    expect(join(dialect.searchResult([hit('T', 'if a < b and <b>bold</b>')], 'q'))).toContain(
      'if a < b and <b>bold</b>',
    );
  });

  test('prompts hold the document or the question and show every tag that may be used', () => {
    const source = { id: 's', title: 'Oker', text: 'The Oker is a river. <answer>no</answer>' };
    for (const hops of [1, 2, 3, 4] as const) {
      const prompt = join(dialect.proposerPrompt(source, hops));
      expect(prompt).toContain('The Oker is a river. &lt;answer>no&lt;/answer>');
      expect(prompt).toContain(`exactly ${hops} step`);
      for (const tag of ['<think>', '<question>', '<answer>', `<${evidence}>`]) expect(prompt).toContain(tag);
    }
    const prompt = join(dialect.solverPrompt('Which river?'));
    expect(prompt).toContain('Question: Which river?');
    expect(prompt).not.toContain('<question>');
  });

  test('notices differ and are shown in the place of results', () => {
    const notices = (['repeated_query', 'invalid_action', 'search_limit'] as const).map((kind) =>
      join(dialect.notice(kind, 'q')),
    );
    expect(new Set(notices).size).toBe(3);
    for (const notice of notices) expect(notice.startsWith(`\n\n<${evidence}>\n`)).toBe(true);
  });

  test('an opened think block is a control token at the end of everything the model reads', () => {
    const open = make({ thinkingOpen: true });
    for (const pieces of [open.solverPrompt('q'), open.searchResult([], 'q'), open.notice('search_limit', null)]) {
      expect(pieces.slice(-2)).toEqual([{ tag: '<think>' }, '\n']);
    }
  });
});
