/** Lists of names as they are typed, and what is said of those that cannot be. */
import { expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { namesIn } from '../../src/recipe/fields.ts';
import { recorded } from '../cli/terminal.ts';

const KNOWN = ['coupled', 'crossfit'];

it('reads names with commas between them', () => {
  expect(namesIn('--plans', 'crossfit, coupled', KNOWN)).toEqual(['crossfit', 'coupled']);
});

it.each([
  ['', '--plans is ""; expected some of coupled, crossfit'],
  [' ', '--plans is " "; expected some of coupled, crossfit'],
  ['coupled,', '--plans names ""; expected some of coupled, crossfit'],
  ['coupled,nothing', '--plans names "nothing"; expected some of coupled, crossfit'],
])('of "%s" says: %s', (typed, message) => {
  expect(() => namesIn('--plans', typed, KNOWN)).toThrow(message);
});

it.each([
  [['compare', '--systems='], '--systems is ""; expected a list of dr-zero, '],
  [['evolve', '--stop-on='], '--stop-on is ""; expected some of idle-groups, '],
])('%j quotes what was typed', async (args, message) => {
  const { terminal, err } = recorded();
  expect(await runProgram(args, terminal)).toBe(2);
  expect(err()).toContain(message);
});
