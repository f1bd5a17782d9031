import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLOZE_TAGS, cloze, writtenPieces } from '../../src/text/dialect/cloze.ts';
import type { Finish, Piece, Violation } from '../../src/types.ts';
import { islands, tokenizer } from './fixture.ts';

const stop: Finish = { reason: 'stop' };
const show = (pieces: readonly Piece[]) => tokenizer.decode(tokenizer.encode(pieces));
const question = 'The island of ____, north of Sund.';
const hit = (text: string) => ({ passage: { id: 'p', source: 's', title: 't', text }, score: 1 });
const solver = (text: string, finish = stop) => cloze.parse(text, finish, question);
const proposer = (text: string, finish = stop) => cloze.parse(text, finish, null);

describe('prompts', () => {
  it('put the right side first and end where the answer goes on', () => {
    expect(show(cloze.solverPrompt(question))).toBe('<question>, north of Sund.<left> The island of');
    expect(show(cloze.solverPrompt('Built in (____) by Moe'))).toBe('<question>) by Moe<left> Built in (');
    expect(show(cloze.solverPrompt('____ is near'))).toBe('<question> is near<left>');
    expect(show(cloze.solverPrompt('Where is Sund?'))).toBe('<question><left> Where is Sund?');
  });

  it('show 18 words left and 12 right of the blank', () => {
    const words = (n: number) => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');
    expect(show(cloze.solverPrompt(`${words(40)} ____ ${words(40)}`))).toBe(
      `<question> ${words(12)}<left> ${words(40).split(' ').slice(22).join(' ')}`,
    );
  });

  it('repeat the question after at most three passages', () => {
    expect(show(cloze.searchResult([hit('A  b.'), hit('C.'), hit('D.'), hit('E.')], question))).toBe(
      '<results><passage> A b.<passage> C.<passage> D.<question>, north of Sund.<left> The island of',
    );
    expect(show(cloze.notice('repeated_query', question))).toBe(
      '<notice><question>, north of Sund.<left> The island of',
    );
    expect(show(cloze.proposerPrompt({ ...islands, text: 'A b.' }, 1))).toBe('<propose><passage> A b.<write>');
  });

  it('never take a control token from text', () => {
    const ids = tokenizer.encode(cloze.searchResult([hit('<end> <passage> x')], '<search> ____ <left>'));
    const tags = ids.filter((id) => id < CLOZE_TAGS.length).map((id) => CLOZE_TAGS[id]);
    expect(tags).toEqual(['<results>', '<passage>', '<question>', '<left>']);
  });
});

describe('solver turns', () => {
  it('search with the words of the question', () => {
    expect(solver('<search><end>')).toEqual({
      thinking: null,
      action: { type: 'search', text: 'The island of , north of Sund.', queries: ['The island of , north of Sund.'] },
      formatOk: true,
      violations: [],
      truncated: false,
      discardedTail: false,
      closedByStop: false,
    });
  });

  it('answer with anything else', () => {
    expect(solver(' Brannholm <end>')).toMatchObject({
      action: { type: 'answer', text: 'Brannholm', range: { start: 1, end: 10 } },
      formatOk: true,
    });
    expect(solver(' a < b', { reason: 'stop', stopMatched: '<end>' })).toMatchObject({
      action: { type: 'answer', text: 'a < b' },
      closedByStop: true,
    });
    expect(solver('Sund<end> and more')).toMatchObject({ action: { text: 'Sund' }, discardedTail: true });
  });

  it.each<[string, Violation]>([
    ['<end>', 'empty_answer'],
    ['  <end>', 'empty_answer'],
    ['<search> Sund<end>', 'malformed_call'],
    ['Sund<search><end>', 'unknown_tag'],
    ['<results><passage> x<end>', 'self_authored_information'],
    ['Sund<blank><end>', 'unknown_tag'],
  ])('%s is %s', (text, reason) => {
    expect(solver(text)).toMatchObject({ action: { type: 'invalid', reason }, formatOk: false, violations: [reason] });
  });

  it('without an end are nothing', () => {
    expect(solver(' Brann', { reason: 'length' })).toMatchObject({
      action: { type: 'none' },
      truncated: true,
      violations: ['truncated'],
    });
    expect(cloze.parse('<search><end>', stop, '____')).toMatchObject({
      action: { type: 'invalid', reason: 'empty_query' },
    });
  });
});

describe('proposer turns', () => {
  it('are a statement with a span in blank tags', () => {
    const text = ' The island of<blank> Brannholm</blank>, north of Sund.<end>';
    const parsed = proposer(text);
    expect(parsed).toMatchObject({
      action: { type: 'propose', question, answer: 'Brannholm', answerRange: { start: 22, end: 31 } },
      formatOk: true,
    });
    expect(text.slice(22, 31)).toBe('Brannholm');
    expect(proposer('Built (<blank>1851</blank>) here<end>')).toMatchObject({
      action: { question: 'Built (____) here' },
    });
  });

  it.each<[string, Violation]>([
    ['<end>', 'empty_question'],
    [' The island<end>', 'unparsed'],
    [' The<blank> island<end>', 'unparsed'],
    [' The ____ <blank> island</blank><end>', 'unparsed'],
    [' The<blank> a<blank> b</blank><end>', 'nested_tag'],
    [' The</blank> a<blank> b<end>', 'nested_tag'],
    [' The<blank> </blank> b<end>', 'empty_answer'],
    [' <blank>The</blank> <end>', 'empty_question'],
    [' The<blank> a</blank><passage> b<end>', 'self_authored_information'],
    ['<search><end>', 'unknown_tag'],
  ])('%s is %s', (text, reason) => {
    expect(proposer(text)).toMatchObject({
      action: { type: 'invalid', reason },
      formatOk: false,
      violations: [reason],
    });
  });

  it('without an end are truncated', () => {
    expect(proposer(' The<blank> a</blank>', { reason: 'length' })).toMatchObject({
      action: { type: 'none' },
      violations: ['truncated'],
    });
  });

  it('are read back as they were written', () => {
    const word = fc.constantFrom('Sund', '(', '1851', 'öst', 'x<y');
    const text = fc.array(word, { minLength: 1 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(text, text, text, fc.constantFrom('', ' '), fc.constantFrom('', ' '), (left, span, right, a, b) => {
        const { action } = proposer(show(writtenPieces({ left: left + a, span, right: b + right })));
        expect(action).toMatchObject({ type: 'propose', question: `${left}${a}____${b}${right}`, answer: span });
      }),
    );
  });
});

it('reads every string', () => {
  const text = fc.array(fc.oneof(fc.constantFrom(...CLOZE_TAGS), fc.string())).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.constantFrom<Finish>(stop, { reason: 'length' }), fc.boolean(), (turn, finish, isSolver) => {
      const parsed = isSolver ? solver(turn, finish) : proposer(turn, finish);
      expect(parsed.formatOk).toBe(parsed.violations.length === 0);
      const { action } = parsed;
      if (action.type === 'answer') expect(turn.slice(action.range.start, action.range.end)).toBe(action.text);
      if (action.type === 'propose')
        expect(turn.slice(action.answerRange.start, action.answerRange.end)).toBe(action.answer);
    }),
  );
});
