/** Progress while a file is read: how much of it, and the time left. Only where a line can be written over. */
import { duration } from './meter.ts';
import type { ProgressView } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** Seconds from one word to the next. */
const EVERY_S = 0.5;

/** Names what is read, and the share that was read of it (null: not known), as often as it likes. */
export type Reading = (about: string, share: number | null) => void;

/** @param seconds a clock. */
export function openReading(
  progress: ProgressView,
  { live }: Pick<Terminal, 'live'>,
  seconds: () => number = () => performance.now() / 1000,
): Reading {
  let current = '';
  let began = 0;
  let told = 0;
  return (about, share) => {
    const at = seconds();
    if (about !== current) {
      [current, began, told] = [about, at, at];
      progress.note(about);
    }
    if (!live || share === null || share === 0 || at - told < EVERY_S) return;
    told = at;
    const left = ((at - began) * (1 - share)) / share;
    progress.note(`${about}  ${Math.round(100 * share)} %  ${duration(left)} left`);
  };
}

/** Passes rows on and says how far it is, once every thousand. */
export async function* watched<T>(rows: AsyncIterable<T>, report: () => void): AsyncGenerator<T> {
  let n = 0;
  for await (const row of rows) {
    if (n++ % 1000 === 0) report();
    yield row;
  }
}
