/** Ctrl-C: the first asks to stop at the next border between two steps, the second ends the process. */
export interface Stop {
  readonly signal: AbortSignal;
  close(): void;
}

/** npm passes on a Ctrl-C that the terminal has already sent: a second one this soon is the same one. */
const ECHO_MS = 500;

/** @param unit what is finished before the run stops, for the user. */
export function openStop(
  say: (text: string) => void,
  unit: string,
  now: () => number = performance.now.bind(performance),
): Stop {
  const controller = new AbortController();
  let first: number | null = null;
  const ask = (): void => {
    if (first !== null) {
      if (now() - first > ECHO_MS) process.exit(130);
      return;
    }
    first = now();
    controller.abort();
    say(`Stopping after this ${unit}; what is finished is kept. Ctrl-C again stops at once.`);
  };
  process.on('SIGINT', ask);
  process.on('SIGTERM', ask);
  return {
    signal: controller.signal,
    close() {
      process.off('SIGINT', ask);
      process.off('SIGTERM', ask);
    },
  };
}
