/**
 * Progress of one long piece of work on stderr: a living line on a terminal, elsewhere a line every few seconds. `phase  40 %
 * 240 MB of 600 MB  1m20s left`; the phases of a command follow each other.
 */
import { visible } from '../report/visible.ts';
import { duration } from './meter.ts';
import { cut } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface Step {
  /** What goes on: "reading". */
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  /** A number of units, for people. */
  show(n: number): string;
}

export interface Countdown {
  report(step: Step): void;
  /** A line that stays, whatever was asked for. */
  warn(text: string): void;
  /** Wipes the living line. */
  close(): void;
}

const LIVE_MS = 200;
const PLAIN_MS = 10_000;
/** What takes less is not worth a line. */
const FIRST_MS = 2000;

/** @param now a clock in milliseconds. */
export function openCountdown(
  terminal: Terminal,
  off: boolean,
  now: () => number = performance.now.bind(performance),
): Countdown {
  let phase: { readonly name: string; readonly since: number; readonly from: number } | null = null;
  let next = now() + (terminal.live ? LIVE_MS : FIRST_MS);
  let drawn = false;
  const wipe = (): void => {
    if (drawn) terminal.raw('\r\u001b[K');
    drawn = false;
  };
  return {
    report(step) {
      const at = now();
      if (phase?.name !== step.phase) phase = { name: step.phase, since: at, from: step.done };
      if (off || at < next) return;
      next = at + (terminal.live ? LIVE_MS : PLAIN_MS);
      const text = visible(stepText(step, at - phase.since, phase.from));
      if (terminal.live) terminal.raw(`\r${cut(text, terminal.width())}\u001b[K`);
      else terminal.err(text);
      drawn = terminal.live;
    },
    warn(text) {
      wipe();
      terminal.err(visible(text));
    },
    close: wipe,
  };
}

/** @param from units that were done when the phase began. */
export function stepText({ phase, done, total, show }: Step, elapsedMs: number, from = 0): string {
  const share = total > 0 ? `${Math.floor((100 * Math.min(done, total)) / total)} %` : '';
  const speed = (done - from) / elapsedMs;
  const left = speed > 0 && elapsedMs > 1000 ? `${duration((total - done) / speed / 1000)} left` : '';
  return [phase, share, `${show(done)} of ${show(total)}`, left].filter((part) => part !== '').join('  ');
}
