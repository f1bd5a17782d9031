/**
 * Progress on stderr: one living line on a terminal, one plain line a phase elsewhere, nothing when nobody wants it. Texts
 * may hold names from files: what would steer the terminal is shown as its escape.
 */
import type { Progress } from '../recipe/progress.ts';
import { visible } from '../report/visible.ts';
import { advance, duration, isReplay, type Meter, secondsLeft, startMeter, tokensPerSecond } from './meter.ts';
import type { Terminal } from './terminal.ts';

export interface ProgressView {
  report(progress: Progress): void;
  /** What goes on while no report comes. */
  note(text: string): void;
  /** A line that stays; not when progress is off. */
  say(text: string): void;
  /** A line that stays, whatever was asked for. */
  warn(text: string): void;
  /** Wipes the living line. */
  close(): void;
}

const FRAMES = ['|', '/', '-', '\\'];
const FRAME_MS = 250;
/** What takes less is not worth a line of its own. */
const LONG_MS = 2000;

const thousands = (n: number): string => (n < 1000 ? n.toFixed(0) : `${(n / 1000).toFixed(1)}k`);

/** `crossfit  round 2/3  proposer 5/16  reward 0.62  A 0.71  12.3k tok/s  3m20s left` */
export function progressText(p: Progress, rounds: number, meter: Meter, sinceReport = 0): string {
  const speed = tokensPerSecond(meter);
  const left = secondsLeft(meter, p.total);
  return [
    p.system,
    `round ${p.round}/${rounds}`,
    `${p.phase} ${p.step + 1}/${p.steps}`,
    ...(p.reward === null ? [] : [`reward ${p.reward.toFixed(2)}`]),
    ...(p.agreement === null ? [] : [`A ${p.agreement.toFixed(2)}`]),
    ...(speed === null ? [] : [`${thousands(speed)} tok/s`]),
    ...(left === null ? [] : [`${duration(left - sinceReport)} left`]),
  ].join('  ');
}

/** Cut so that the cursor stays on its line. */
export const cut = (text: string, width: number): string =>
  text.length < width ? text : `${text.slice(0, Math.max(0, width - 2))}…`;

/** @param seconds a clock. */
export function openProgress(
  terminal: Terminal,
  rounds: number,
  off: boolean,
  seconds: () => number = () => performance.now() / 1000,
): ProgressView {
  const nothing = (): void => {};
  const line = (text: string): void => terminal.err(visible(text));
  if (off) return { report: nothing, note: nothing, say: nothing, warn: line, close: nothing };
  let meter = startMeter(seconds());
  return terminal.live ? livingLine() : plainLines();

  function livingLine(): ProgressView {
    let text: (() => string) | null = null;
    let frame = 0;
    const draw = (): void => {
      if (text === null) return;
      terminal.raw(`\r${cut(`${FRAMES[frame++ % FRAMES.length]} ${visible(text())}`, terminal.width())}\u001b[K`);
    };
    const timer = setInterval(draw, FRAME_MS).unref();
    const show = (next: () => string): void => {
      text = next;
      draw();
    };
    const say = (text: string): void => {
      terminal.raw(`\r\u001b[K${visible(text)}\n`);
      draw();
    };
    return {
      report(p) {
        const at = seconds();
        meter = advance(meter, { at, done: p.done, tokens: p.tokens });
        show(() => progressText(p, rounds, meter, seconds() - at));
      },
      note: (note) => show(() => note),
      say,
      warn: say,
      close() {
        clearInterval(timer);
        if (text !== null) terminal.raw('\r\u001b[K');
        text = null;
      },
    };
  }

  function plainLines(): ProgressView {
    let waiting: NodeJS.Timeout | undefined;
    const settle = (): void => clearTimeout(waiting);
    return {
      report(p) {
        settle();
        meter = advance(meter, { at: seconds(), done: p.done, tokens: p.tokens });
        if (p.step === p.steps - 1 && !isReplay(meter)) line(progressText(p, rounds, meter));
      },
      note(text) {
        settle();
        waiting = setTimeout(() => line(text), LONG_MS).unref();
      },
      say(text) {
        settle();
        line(text);
      },
      warn: line,
      close: settle,
    };
  }
}
