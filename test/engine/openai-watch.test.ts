/** What is said while a server keeps everybody waiting. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openWatch } from '../../src/engine/openai/watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('tells how long nothing was answered and when it is given up; an answer begins the wait anew', () => {
  const said: string[] = [];
  const watch = openWatch((text) => said.push(text), 600_000);
  vi.advanceTimersByTime(90_000);
  expect(said).toEqual([]);
  const [one, two] = [watch.begin(), watch.begin()];
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual([
    'no answer for 30 s; given up after 600 s of silence',
    'no answer for 60 s; given up after 600 s of silence',
  ]);
  vi.advanceTimersByTime(20_000);
  two(true);
  vi.advanceTimersByTime(30_000);
  expect(said).toHaveLength(2);
  one(false);
  vi.advanceTimersByTime(90_000);
  expect(said).toHaveLength(2);
  watch.close();
});
