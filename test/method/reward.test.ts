import { describe, expect, it } from 'vitest';
import { difficulty } from '../../src/method/difficulty.ts';
import { type FormatInput, formatReward, gateFailure } from '../../src/method/format.ts';
import { PROPOSER_REWARD, proposerReward } from '../../src/method/proposer-reward.ts';
import type { ParsedTurn } from '../../src/types.ts';

const turn = (over: Partial<ParsedTurn> = {}): ParsedTurn => ({
  thinking: 'first the founder, then his birthplace',
  action: { type: 'none' },
  formatOk: true,
  violations: [],
  truncated: false,
  discardedTail: false,
  closedByStop: false,
  ...over,
});

const good: FormatInput = {
  hops: 2,
  turns: [turn(), turn()],
  thinks: true,
  searches: 1,
  malformedCall: false,
  question: 'Where was the founder of the Meridian Tram Company born?',
  answer: 'Altenau',
  evidence: ['The Meridian Tram Company was founded by Iva Brandt.', 'Iva Brandt was born in Altenau.'],
};

const parts = (over: Partial<FormatInput>) => formatReward({ ...good, ...over }).parts;

describe('format reward', () => {
  it('is 1 for a proposal that does everything right', () => {
    expect(formatReward(good)).toEqual({
      gate: null,
      score: 1,
      parts: { thinking: 1, tools: 1, question: 1, answer: 1 },
    });
  });

  it('thinking is the share of turns with one closed block; a truncated turn does not count', () => {
    expect(parts({ turns: [turn(), turn({ thinking: null })] }).thinking).toBe(0.5);
    expect(parts({ turns: [turn(), turn({ truncated: true })] }).thinking).toBe(0.5);
    expect(parts({ turns: [turn({ violations: ['unclosed_thinking'] })] }).thinking).toBe(0);
    expect(parts({ turns: [turn({ thinking: '' })] }).thinking).toBe(1);
    expect(parts({ turns: [] }).thinking).toBe(0);
    expect(parts({ turns: [turn({ thinking: null })], thinks: false }).thinking).toBe(1);
  });

  it.each([
    // hops, searches, malformed, expected
    [1, 0, false, 1],
    [1, 0, true, 1],
    [1, 3, false, 1],
    [2, 0, false, 0.5],
    [2, 1, false, 1],
    [3, 1, false, 2 / 3],
    [4, 1, false, 0.5],
    [4, 3, false, 1],
    [4, 5, false, 1],
    [4, 3, true, 0],
  ] as const)('tools: %i hops with %i searches (malformed: %s) earn %f', (hops, searches, malformedCall, expected) => {
    expect(parts({ hops, searches, malformedCall }).tools).toBeCloseTo(expected, 12);
  });

  it.each([
    ['one two three four five', 'x one two three four five y', 1],
    ['one two three four five six', 'x one two three four five six y', 0.5],
    ['one two three four five six seven eight nine ten', 'nothing', 0.5],
    ['one two three four five six seven eight nine ten eleven', 'nothing', 0],
    ['Bergen', 'nothing', 0.5],
    ['Yes.', 'nothing', 1],
    ['no', '', 1],
    ['the ALTENAU!', 'Born in Altenau.', 1],
  ])('answer "%s" with evidence "%s" earns %f', (answer, text, expected) => {
    expect(parts({ answer, evidence: [text] }).answer).toBe(expected);
  });

  it.each([
    ['', 'Altenau', 'no_question'],
    [null, 'Altenau', 'no_question'],
    ['Where?', null, 'no_answer'],
    ['Where?', ' ?! ', 'no_answer'],
    // case c39
    ['Which river, the Oker, flows through Altenau?', 'Oker', 'answer_in_question'],
    ['Which river flows through Altenau?', 'Oker', null],
    ['Was España in it?', 'españa', 'answer_in_question'],
  ] as const)('gate: %s / %s → %s', (question, answer, expected) => {
    expect(gateFailure(question, answer)).toBe(expected);
    const { gate, score } = formatReward({ ...good, question, answer });
    expect(gate).toBe(expected);
    expect(score === 0).toBe(expected !== null);
  });
});

describe('proposer reward', () => {
  const format = formatReward({ ...good, searches: 0 }); // tools .5, so format = 3.5 / 4
  const matches = [true, true, false, false, false]; // k = 2

  it('is w · format + f(k), each part reported', () => {
    expect(proposerReward(format, matches)).toEqual({
      total: 0.5 * 0.875 + 0.75,
      parts: { thinking: 1, tools: 0.5, question: 1, answer: 1, format: 0.875, difficulty: 0.75 },
    });
    expect(proposerReward(format, matches, { ...PROPOSER_REWARD, formatWeight: 0 })?.total).toBe(0.75);
  });

  it('a shut gate earns 0 and stays in its group, or leaves it with `drop`', () => {
    const shut = formatReward({ ...good, answer: 'founder' });
    expect(proposerReward(shut, matches)?.total).toBe(0);
    expect(proposerReward(shut, [], { ...PROPOSER_REWARD, gate: 'drop' })).toBeNull();
    expect(proposerReward(format, matches, { ...PROPOSER_REWARD, gate: 'drop' })?.total).toBe(0.5 * 0.875 + 0.75);
  });

  it('responses lost to an outage shrink n; none or one left earns no difficulty', () => {
    expect(difficulty('linear', [true, false, false])).toBe(1);
    expect(difficulty('linear', [true])).toBe(0);
    expect(difficulty('linear', [])).toBe(0);
    expect(difficulty('parabolic', [])).toBe(0);
  });
});
