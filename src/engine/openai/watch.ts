/** Says that a server keeps everybody waiting: requests are under way, and none has been answered for a while. */

export interface Watch {
  /** A request is under way until what this returns is called. */
  begin(): (answered: boolean) => void;
  close(): void;
}

const EVERY_MS = 30_000;

/** @param longestMs silence after which the server is given up. */
export function openWatch(note: (text: string) => void, longestMs: number): Watch {
  const waiting = new Map<symbol, number>();
  let answeredAt = 0;
  const look = (): void => {
    if (waiting.size === 0) return;
    const since = Math.max(answeredAt, Math.min(...waiting.values()));
    const seconds = Math.round((performance.now() - since) / 1000);
    if (seconds * 1000 < EVERY_MS) return;
    note(`no answer for ${seconds} s; given up after ${longestMs / 1000} s of silence`);
  };
  const timer = setInterval(look, EVERY_MS).unref();
  return {
    begin() {
      const key = Symbol();
      waiting.set(key, performance.now());
      return (answered) => {
        waiting.delete(key);
        if (answered) answeredAt = performance.now();
      };
    },
    close: () => clearInterval(timer),
  };
}
