/** Speed and time left, from reports as they come. Pure: the caller has the clock. */

/** One report: seconds since any origin, work units and tokens done so far. */
export interface Sample {
  readonly at: number;
  readonly done: number;
  readonly tokens: number;
}

export interface Meter {
  /** Where work really began: steps that took no tokens were read from the journal and say nothing about speed. */
  readonly start: Sample;
  /** Since `start`, of the last half minute; the last one is the latest. */
  readonly recent: readonly Sample[];
}

const WINDOW_S = 30;

export const startMeter = (at: number): Meter => {
  const start = { at, done: 0, tokens: 0 };
  return { start, recent: [start] };
};

export function advance(meter: Meter, sample: Sample): Meter {
  const last = meter.recent.at(-1)!;
  if (sample.tokens === last.tokens) return { start: sample, recent: [sample] };
  return {
    start: meter.start,
    recent: [...meter.recent, sample].filter(({ at }) => sample.at - at <= WINDOW_S || at === last.at),
  };
}

/** Was the last report read from the journal? */
export const isReplay = ({ recent }: Meter): boolean => recent.length === 1;

/** Null while there is nothing to tell it from. */
export function tokensPerSecond({ recent }: Meter): number | null {
  const [first, last] = [recent[0]!, recent.at(-1)!];
  return last.at > first.at ? (last.tokens - first.tokens) / (last.at - first.at) : null;
}

export function secondsLeft({ start, recent }: Meter, total: number): number | null {
  const last = recent.at(-1)!;
  const done = last.done - start.done;
  return done > 0 ? ((total - last.done) * (last.at - start.at)) / done : null;
}

/** `48s`, `3m20s`, `2h05m` */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  const two = (n: number): string => String(n).padStart(2, '0');
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
  return `${Math.floor(s / 3600)}h${two(Math.floor((s % 3600) / 60))}m`;
}
