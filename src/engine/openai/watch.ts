/** Says that a server keeps everybody waiting: requests are under way, and none has been answered for a while. */

export interface Watch {
  /** A request is under way until what this returns is called; `attempt` counts from 0. */
  begin(): { tries(attempt: number): void; end(answered: boolean): void };
  close(): void;
}

const EVERY_MS = 30_000;

/** @param tries attempts that a request has. */
export function openWatch(note: (text: string) => void, tries: number): Watch {
  const waiting = new Map<symbol, { readonly since: number; attempt: number }>();
  let answeredAt = 0;
  const look = (): void => {
    if (waiting.size === 0) return;
    const all = [...waiting.values()];
    const since = Math.max(answeredAt, Math.min(...all.map((one) => one.since)));
    const seconds = Math.round((performance.now() - since) / 1000);
    if (seconds * 1000 < EVERY_MS) return;
    note(`no answer for ${seconds} s, try ${Math.max(...all.map(({ attempt }) => attempt)) + 1} of ${tries}`);
  };
  const timer = setInterval(look, EVERY_MS).unref();
  return {
    begin() {
      const key = Symbol();
      const one = { since: performance.now(), attempt: 0 };
      waiting.set(key, one);
      return {
        tries(attempt) {
          one.attempt = attempt;
        },
        end(answered) {
          waiting.delete(key);
          if (answered) answeredAt = performance.now();
        },
      };
    },
    close: () => clearInterval(timer),
  };
}
