/** Bounded concurrency that adapts: halved when the server says it is too much, one more for each round that went well. */

export interface Limiter {
  /** Runs `work` when a place is free. A failure that `tooMany` recognises makes the rest slower. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Places at the moment. */
  places(): number;
}

export function openLimiter(most: number, tooMany: (error: unknown) => boolean): Limiter {
  let limit = most;
  let running = 0;
  /** Halvings so far: work that began before one says nothing about the new limit. */
  let epoch = 0;
  const waiting: (() => void)[] = [];
  const admit = (): void => {
    while (running < Math.floor(limit) && waiting.length > 0) {
      running++;
      waiting.shift()!();
    }
  };
  return {
    places: () => Math.floor(limit),
    async run(work) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        admit();
      });
      const began = epoch;
      try {
        const result = await work();
        limit = Math.min(most, limit + 1 / limit);
        return result;
      } catch (error) {
        if (tooMany(error) && began === epoch) {
          limit = Math.max(1, limit / 2);
          epoch++;
        }
        throw error;
      } finally {
        running--;
        admit();
      }
    },
  };
}
