import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchR1 } from '../../src/text/dialect/search-r1.ts';
import { toolCall } from '../../src/text/dialect/tool-call.ts';
import type { Action, Finish, Violation } from '../../src/types.ts';

const STOP: Finish = { reason: 'stop' };
const solver = (text: string, finish = STOP) => searchR1().parse(text, finish, 'who?');
const proposer = (text: string, finish = STOP) => searchR1().parse(text, finish, null);

/** The action in one line. */
function brief(action: Action): string {
  switch (action.type) {
    case 'search':
      return `search ${action.queries.join(' | ')}`;
    case 'answer':
      return `answer ${action.text}`;
    case 'propose':
      return `propose ${action.question} = ${action.answer}`;
    case 'invalid':
      return `invalid ${action.reason}`;
    case 'none':
      return 'none';
    default:
      return action satisfies never;
  }
}

const soup = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          ...['think', 'search', 'information', 'answer', 'question', 'tool_call', 'tool_response', 'b'].flatMap(
            (name) => [`<${name}>`, `</${name}>`],
          ),
          '<|im_end|>',
          '{"name": "search", "arguments": {"query_list": ["x"]}}',
          '\ud800',
          ' ',
        ),
      },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));
const finishes = fc.record({
  reason: fc.constantFrom('stop' as const, 'length' as const),
  stopMatched: fc.constantFrom(null, '</search>', '</answer>', '</tool_call>'),
});

describe('solver turns', () => {
  const rows: readonly (readonly [string, string, readonly Violation[]])[] = [
    ['<think>a</think>\n<answer> Oslo </answer>', 'answer Oslo', []],
    ['<think>a</think><think>b</think><answer>Oslo</answer>', 'answer Oslo', []],
    ['<answer>Oslo</answer> Hope this helps!', 'answer Oslo', []],
    ['<answer>Oslo</answer><|im_end|>', 'answer Oslo', []],
    ['<answer></answer><answer>Oslo</answer>', 'invalid empty_answer', ['action_after_action', 'empty_answer']],
    ['<answer>Oslo', 'invalid unparsed', ['unparsed']],
    ['<answer>Oslo <b>x</b>', 'invalid unknown_tag', ['unknown_tag', 'unparsed']],
    ['Oslo', 'invalid unparsed', ['unparsed']],
    ['', 'invalid unparsed', ['unparsed']],
    ['Oslo</answer>', 'invalid nested_tag', ['nested_tag', 'unparsed']],
    ['<Answer>Oslo</Answer>', 'invalid unknown_tag', ['unknown_tag', 'unparsed']],
    ['<think><b>x</b></think> Oslo', 'invalid unparsed', ['unparsed']],
    ['<think>I would <answer>Oslo</answer> but', 'answer Oslo', ['unclosed_thinking']],
    ['<think>hm', 'invalid unclosed_thinking', ['unclosed_thinking', 'unparsed']],
    ['maybe <answer>41</answer></think><answer>42</answer>', 'answer 42', ['unclosed_thinking']],
    ['<answer>a <search>b</search> c</answer>', 'search b', ['nested_tag']],
    ['<search>foo <answer>bar</answer>', 'answer bar', ['nested_tag']],
    ['<answer><think>x</think>Oslo</answer>', 'answer Oslo', ['nested_tag']],
    ['<information>Oslo is it.</information><answer>Oslo</answer>', 'answer Oslo', ['self_authored_information']],
    [
      '<information><answer>Oslo</answer></information>',
      'invalid self_authored_information',
      ['self_authored_information', 'unparsed'],
    ],
    ['<think><information><answer>Oslo</answer></information></think><search>q</search>', 'search q', []],
    ['<question>Where?</question><answer>Oslo</answer>', 'answer Oslo', []],
  ];
  test.each(rows)('%s', (text, action, violations) => {
    const parsed = solver(text);
    expect(brief(parsed.action)).toBe(action);
    expect(parsed.violations).toEqual(violations);
    expect(parsed.formatOk).toBe(violations.length === 0);
  });

  test('a tail is dropped and the kept characters end with the action', () => {
    const text = '<search>q</search>\n<information>x';
    expect(solver(text)).toMatchObject({ discardedTail: true, kept: '<search>q</search>'.length });
    expect(solver('<answer>Oslo</answer>\n<|im_end|>')).toMatchObject({ discardedTail: false });
    expect(solver('<answer><answer>Oslo</answer></answer>')).toMatchObject({ discardedTail: false });
  });

  test('the finish reason alone decides what is truncated', () => {
    expect(solver('<think>hm', { reason: 'length' })).toMatchObject({
      action: { type: 'none' },
      violations: ['truncated'],
      truncated: true,
    });
    const whole = solver('<answer>Oslo</answer> and then', { reason: 'length' });
    expect([brief(whole.action), whole.truncated, whole.violations]).toEqual(['answer Oslo', true, ['truncated']]);
    const stale = solver('<search>q', { reason: 'length', stopMatched: '</search>' });
    expect(stale.action.type).toBe('none');
  });

  test('a stop string that the engine kept is not added again', () => {
    const parsed = solver('<search>q</search>', { reason: 'stop', stopMatched: '</search>' });
    expect([brief(parsed.action), parsed.closedByStop, parsed.formatOk]).toEqual(['search q', false, true]);
  });

  test('with thinking opened by the prompt', () => {
    const open = searchR1({ thinkingOpen: true });
    expect(open.parse('<think>a</think><answer>b</answer>', STOP, 'q')).toMatchObject({
      thinking: 'a',
      formatOk: true,
    });
    expect(open.parse('<answer>b</answer>', STOP, 'q')).toMatchObject({
      thinking: null,
      violations: ['unclosed_thinking'],
      action: { type: 'answer', text: 'b' },
    });
  });
});

describe('proposer turns', () => {
  const rows: readonly (readonly [string, string, readonly Violation[]])[] = [
    ['<question>Where?</question>\n<answer>Oslo</answer>', 'propose Where? = Oslo', []],
    ['<search>q</search>', 'search q', []],
    ['<answer>Oslo</answer>', 'invalid empty_question', ['empty_question']],
    ['<question> </question><answer>Oslo</answer>', 'invalid empty_question', ['empty_question']],
    ['<question>Where?</question><answer> </answer>', 'invalid empty_answer', ['empty_answer']],
    ['<question>Where?</question>', 'invalid empty_answer', ['empty_answer', 'unparsed']],
    ['<question>A?</question><question>B?</question><answer>C</answer>', 'propose A? = C', ['action_after_action']],
    ['<question>A?</question><search>q</search>', 'search q', ['action_after_action']],
  ];
  test.each(rows)('%s', (text, action, violations) => {
    const parsed = proposer(text);
    expect(brief(parsed.action)).toBe(action);
    expect(parsed.violations).toEqual(violations);
  });
});

describe('tool calls', () => {
  const call = (body: string) => toolCall().parse(`<think>x</think><tool_call>${body}</tool_call>`, STOP, 'q');
  const rows: readonly (readonly [string, string])[] = [
    ['{"name": "search", "arguments": {"query_list": ["a", " b "]}}', 'search a | b'],
    ['{"name": "search", "arguments": {"query": "a"}}', 'search a'],
    ['{"name": "search", "arguments": "{\\"query_list\\": [\\"a\\"]}"}', 'search a'],
    ['{"name": "search", "arguments": {"query": "a\nb"}}', 'search a\nb'],
    ['{"name": "search", "arguments": {"query_list": [" "]}}', 'invalid empty_query'],
    ['{"name": "browse", "arguments": {"query_list": ["a"]}}', 'invalid malformed_call'],
    ['{"name": "search", "arguments": {"query_list": [1]}}', 'invalid malformed_call'],
    ['{"name": "search"}', 'invalid malformed_call'],
    ['{"query": "a"}', 'invalid malformed_call'],
    ['search for a', 'invalid malformed_call'],
    ['"\\"\n', 'invalid malformed_call'],
    ['', 'invalid malformed_call'],
  ];
  test.each(rows)('%s → %s', (body, action) => {
    expect(brief(call(body).action)).toBe(action);
  });

  test('a call that is never closed is malformed, and a cut one is cut as well', () => {
    expect(toolCall().parse('<tool_call>{"name"', STOP, 'q').violations).toEqual(['malformed_call', 'unparsed']);
    expect(toolCall().parse('<tool_call>{"name"', { reason: 'length' }, 'q').violations).toEqual([
      'truncated',
      'malformed_call',
    ]);
  });
});

describe('any text', () => {
  test('has a reading whose ranges and flags hold together', () => {
    const check = (text: string, finish: Finish, question: string | null) => {
      for (const dialect of [searchR1(), toolCall(), searchR1({ thinkingOpen: true })]) {
        const parsed = dialect.parse(text, finish, question);
        const { action } = parsed;
        expect(parsed.formatOk).toBe(parsed.violations.length === 0);
        expect(parsed.truncated).toBe(finish.reason === 'length');
        expect(parsed.kept !== undefined).toBe(parsed.discardedTail);
        if (action.type === 'invalid' || action.type === 'none') expect(parsed.formatOk).toBe(false);
        if (action.type === 'answer') expect(text.slice(action.range.start, action.range.end)).toBe(action.text);
        if (action.type === 'propose')
          expect(text.slice(action.answerRange.start, action.answerRange.end)).toBe(action.answer);
        expect(action.type === 'propose' && question !== null).toBe(false);
        expect(action.type === 'answer' && question === null).toBe(false);
        if (parsed.kept !== undefined)
          expect(dialect.parse(text.slice(0, parsed.kept), { reason: 'stop' }, question).action).toEqual(action);
      }
    };
    fc.assert(fc.property(soup, finishes, fc.constantFrom('q', null), check), { numRuns: 1500 });
  });

  test('what stands in the think block changes neither action nor format', () => {
    const inner = soup.filter((text) => !text.includes('think>'));
    fc.assert(
      fc.property(inner, soup, (thought, rest) => {
        const [a, b] = [solver(`<think>${thought}</think>${rest}`), solver(`<think></think>${rest}`)];
        expect([a.formatOk, a.violations, brief(a.action)]).toEqual([b.formatOk, b.violations, brief(b.action)]);
        expect(a.thinking).toBe(thought);
      }),
    );
  });

  test('a well-formed turn is read back as it was written', () => {
    const plain = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 30 })
      .map((text) => text.replaceAll('<', '‹').trim())
      .filter((text) => text !== '');
    fc.assert(
      fc.property(plain, plain, (thought, said) => {
        const search = solver(`<think>${thought}</think>\n<search> ${said} </search>`);
        expect(search).toMatchObject({ thinking: thought, formatOk: true, action: { type: 'search', text: said } });
        const raw = JSON.stringify({ name: 'search', arguments: { query_list: [said, thought] } });
        const called = toolCall().parse(`<tool_call>${raw}</tool_call>`, STOP, 'q');
        expect(called.action).toMatchObject({ type: 'search', queries: [said, thought] });
        const asked = proposer(`<question>${thought}</question><answer>${said}</answer>`);
        expect(asked.action).toMatchObject({ type: 'propose', question: thought, answer: said });
      }),
    );
  });

  test('long hostile texts are read', () => {
    const n = 30_000;
    for (const unit of [
      '<answer>',
      '</answer>',
      '<think>',
      '<a',
      '<tool_call>"\\"',
      '<|im_end|>',
      '</think><search>',
    ]) {
      expect(solver(unit.repeat(n)).action.type).toBe('invalid');
      expect(toolCall().parse(unit.repeat(n), STOP, null).action.type).toBe('invalid');
    }
    expect(solver(`<answer>x</answer>${'<|im_end|>'.repeat(n)}`).discardedTail).toBe(false);
    expect(toolCall().parse(`<tool_call>${'"\\"\n'.repeat(n)}</tool_call>`, STOP, 'q').action.type).toBe('invalid');
    expect(brief(solver(`${'<answer>'.repeat(n)}x${'</answer>'.repeat(n)}`).action)).toBe('answer x');
  });
});
