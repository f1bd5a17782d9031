/** How long something has had work under way. Calls that overlap count once. */
export interface BusyClock {
  track<T>(work: () => Promise<T>): Promise<T>;
  /** Milliseconds so far. */
  total(): number;
}

export function openBusyClock(now: () => number = () => performance.now()): BusyClock {
  let [running, since, before] = [0, 0, 0];
  return {
    async track(work) {
      if (running++ === 0) since = now();
      try {
        return await work();
      } finally {
        if (--running === 0) before += now() - since;
      }
    },
    total: () => before + (running > 0 ? now() - since : 0),
  };
}
