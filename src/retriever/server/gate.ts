/** Bounded work: so much at once, so much waiting, the rest is turned away. */
import pLimit from 'p-limit';

export interface Gate {
  /** Null at once when the queue is full. Work whose signal is aborted while it waits is never begun. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> | null;
  waiting(): number;
  running(): number;
}

export function openGate(concurrency: number, queue: number): Gate {
  const limit = pLimit(concurrency);
  return {
    run(work, signal) {
      if (limit.activeCount + limit.pendingCount >= concurrency + queue) return null;
      return limit(() => {
        signal.throwIfAborted();
        return work();
      });
    },
    waiting: () => limit.pendingCount,
    running: () => limit.activeCount,
  };
}
