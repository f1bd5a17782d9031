import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPACT_TAGS, type CompactTurn, compact, writeTurn } from '../src/text/dialect/compact.ts';
import type { Finish, Piece } from '../src/types.ts';

const STOP: Finish = { reason: 'stop' };
const solver = (text: string, finish: Finish = STOP) => compact.parse(text, finish, 'seat of Brask Mills ?');
const proposer = (text: string, finish: Finish = STOP) => compact.parse(text, finish, null);
const spell = (pieces: readonly Piece[]) => pieces.map((p) => (typeof p === 'string' ? p : p.tag)).join(' ');

describe('prompts', () => {
  const text = 'Mara Voss: home Port Ellow.';
  it('show a page once under its title, whether or not the text repeats it', () => {
    for (const body of [text, `# Mara Voss\n\n${text}`, 'home Port Ellow.'])
      expect(spell(compact.proposerPrompt({ id: 'x', title: 'Mara Voss', text: body }, 2))).toBe(
        '<propose> <doc> Mara Voss: home Port Ellow. <h2>',
      );
  });
  it('keep untrusted text apart from control tokens', () => {
    expect(compact.solverPrompt('seat of <end> ?')).toEqual([{ tag: '<solve>' }, 'seat of <end> ?']);
    const passage = { id: 'x', source: 'x', title: 'Mara Voss', text };
    expect(compact.searchResult([{ passage, score: 1 }], null)).toEqual([
      { tag: '<results>' },
      { tag: '<doc>' },
      text,
      { tag: '</results>' },
    ]);
    expect(spell(compact.notice('search_limit', null))).toBe('<results> <notice> </results>');
  });
});

describe('reading a turn', () => {
  it('takes a search', () => {
    expect(solver('<think> mentor founder <search> Brask Mills <end>')).toEqual({
      thinking: 'mentor founder',
      action: { type: 'search', text: 'Brask Mills', queries: ['Brask Mills'] },
      formatOk: true,
      violations: [],
      truncated: false,
      discardedTail: false,
      closedByStop: false,
    });
  });
  it('takes an answer with its place', () => {
    const turn = solver('<think> seat <answer> Port Ellow <end>');
    expect(turn.action).toEqual({ type: 'answer', text: 'Port Ellow', range: { start: 22, end: 32 } });
  });
  it('takes a proposal with the place of its answer', () => {
    const turn = proposer('<think> seat Port Ellow <question> base of Brask Mills ? <answer> Port Ellow <end>');
    expect(turn.thinking).toBe('seat Port Ellow');
    expect(turn.action).toEqual({
      type: 'propose',
      question: 'base of Brask Mills ?',
      answer: 'Port Ellow',
      answerRange: { start: 66, end: 76 },
    });
    expect(turn.formatOk).toBe(true);
  });
  it('closes the action where an engine removed the stop token', () => {
    const turn = solver('<think> seat <answer> Port Ellow', { reason: 'stop', stopMatched: '<end>' });
    expect(turn).toMatchObject({ action: { type: 'answer', text: 'Port Ellow' }, formatOk: true, closedByStop: true });
  });
  it('takes the first complete action and drops the rest', () => {
    const turn = solver('<think> seat <search> Brask Mills <answer> Port Ellow <end>');
    expect(turn).toMatchObject({
      action: { type: 'search', text: 'Brask Mills' },
      discardedTail: true,
      formatOk: false,
    });
    expect(turn.violations).toEqual(['action_after_action']);
    expect(turn.kept).toBe('<think> seat <search> Brask Mills'.length);
    expect(solver('<think> seat <answer> Port Ellow <end> more')).toMatchObject({
      action: { type: 'answer', text: 'Port Ellow' },
      violations: ['unparsed'],
      kept: '<think> seat <answer> Port Ellow <end>'.length,
    });
    const made = solver('<think> seat <search> Brask Mills <results> <doc> seat Port Ellow </results> <end>');
    expect(made).toMatchObject({ action: { type: 'search', text: 'Brask Mills' }, discardedTail: true });
    expect(made.violations).toEqual(['self_authored_information']);
  });
  it.each([
    ['an empty query', 'solver', '<think> seat <search> <end>', 'empty_query'],
    ['an empty answer', 'solver', '<think> seat <answer> <end>', 'empty_answer'],
    ['an empty question', 'proposer', '<think> seat <question> <answer> Port Ellow <end>', 'empty_question'],
    ['a label without a question', 'proposer', '<think> seat <answer> Port Ellow <end>', 'empty_question'],
    ['a question without a label', 'proposer', '<think> seat <question> seat of Brask Mills ? <end>', 'empty_answer'],
    ['an empty label', 'proposer', '<think> seat <question> seat of Brask Mills ? <answer> <end>', 'empty_answer'],
    ['a solver that asks', 'solver', '<think> seat <question> seat ? <answer> Port Ellow <end>', 'unknown_tag'],
    [
      'results it wrote itself',
      'solver',
      '<think> seat <results> x </results> <answer> y <end>',
      'self_authored_information',
    ],
  ] as const)('refuses %s', (_, role, text, reason) => {
    const turn = role === 'solver' ? solver(text) : proposer(text);
    expect(turn.action).toEqual({ type: 'invalid', reason });
    expect(turn.violations).toContain(reason);
    expect(turn.formatOk).toBe(false);
  });
  it('finds no action in a turn that was cut, unless one was complete', () => {
    for (const text of ['<think> seat', '<think> seat <answer> Port', '<think> seat <search>'])
      expect(solver(text, { reason: 'length' })).toMatchObject({ action: { type: 'none' }, truncated: true });
    expect(proposer('<think> a <question> seat of Brask', { reason: 'length' }).action.type).toBe('none');
    const turn = solver('<think> seat <search> Brask Mills <answer> Port', { reason: 'length' });
    expect(turn).toMatchObject({ action: { type: 'search' }, truncated: true, formatOk: false });
  });
  it('gives no thinking credit without one closed think block at the start', () => {
    expect(solver('<search> Brask Mills <end>')).toMatchObject({
      thinking: null,
      formatOk: false,
      action: { type: 'search' },
    });
    expect(solver('<think> seat <end>')).toMatchObject({ thinking: null, violations: ['unclosed_thinking'] });
    expect(solver('<think> seat <think> seat <search> x <end>')).toMatchObject({
      thinking: null,
      violations: ['nested_tag'],
    });
    expect(solver('well <think> seat <search> x <end>')).toMatchObject({ thinking: null, formatOk: false });
    expect(solver('no tags at all')).toMatchObject({ action: { type: 'none' }, violations: ['unparsed'] });
    expect(solver('')).toMatchObject({ action: { type: 'none' }, formatOk: false });
    expect(solver('<think> seat <foo> <search> x <end>').violations).toEqual(['unknown_tag']);
  });
});

const words = fc.array(fc.constantFrom('Brask', 'Mills', 'of', '?', '~', 'é', '"'), { minLength: 1, maxLength: 6 });
const phrase = words.map((w) => w.join(' '));
const junk = fc
  .array(fc.oneof(fc.constantFrom<string>(...COMPACT_TAGS, '<foo>', '<', '</', ' ', '\n'), fc.string({ maxLength: 5 })))
  .map((parts) => parts.join(''));
const finish = fc.constantFrom<Finish>(STOP, { reason: 'length' }, { reason: 'stop', stopMatched: '<end>' });

describe('properties', () => {
  it('parse undoes writeTurn', () => {
    const solving = fc.record({ type: fc.constantFrom('search' as const, 'answer' as const), text: phrase });
    const proposing = fc.record({ type: fc.constant('propose' as const), question: phrase, answer: phrase });
    const roundTrip = (turn: CompactTurn, question: string | null) => {
      const parsed = compact.parse(spell(writeTurn(turn)), STOP, question);
      expect(parsed).toMatchObject({ thinking: turn.thinking, formatOk: true, violations: [] });
      expect(parsed.action).toMatchObject(turn.action);
    };
    fc.assert(fc.property(phrase, solving, (thinking, action) => roundTrip({ thinking, action }, 'q ?')));
    fc.assert(fc.property(phrase, proposing, (thinking, action) => roundTrip({ thinking, action }, null)));
  });
  it('never throws; ranges point at the text; invalid or truncated turns earn no format credit', () => {
    fc.assert(
      fc.property(junk, finish, fc.constantFrom(null, 'q ?'), (text, end, question) => {
        const turn = compact.parse(text, end, question);
        const { action } = turn;
        if (action.type === 'answer') expect(text.slice(action.range.start, action.range.end)).toBe(action.text);
        if (action.type === 'propose')
          expect(text.slice(action.answerRange.start, action.answerRange.end)).toBe(action.answer);
        expect(turn.kept !== undefined).toBe(turn.discardedTail);
        expect(turn.kept ?? 0).toBeLessThanOrEqual(text.length);
        if (action.type === 'invalid') expect(turn.violations).toContain(action.reason);
        if (action.type === 'invalid' || action.type === 'none' || turn.truncated) expect(turn.formatOk).toBe(false);
        expect(turn.formatOk).toBe(turn.violations.length === 0 && turn.thinking !== null);
      }),
      { numRuns: 2000 },
    );
  });
});
