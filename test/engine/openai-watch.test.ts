/** What is said while a server keeps everybody waiting. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openWatch } from '../../src/engine/openai/watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('tells how long nothing was answered and at which try it is; an answer begins the wait anew', () => {
  const said: string[] = [];
  const watch = openWatch((text) => said.push(text), 7);
  vi.advanceTimersByTime(90_000);
  expect(said).toEqual([]);
  const [one, two] = [watch.begin(), watch.begin()];
  vi.advanceTimersByTime(30_000);
  one.tries(1);
  vi.advanceTimersByTime(30_000);
  expect(said).toEqual(['no answer for 30 s, try 1 of 7', 'no answer for 60 s, try 2 of 7']);
  vi.advanceTimersByTime(20_000);
  two.end(true);
  vi.advanceTimersByTime(30_000);
  expect(said).toHaveLength(2);
  one.end(false);
  vi.advanceTimersByTime(90_000);
  expect(said).toHaveLength(2);
  watch.close();
});
