/** Frozen weights of the local engine, sampled by its workers: conversations are dealt to them by index. */
import type { Completion, Policy, SampleRequest, SamplingSession } from '../../engine.ts';
import type { Shared } from './shared.ts';

let nextBatch = 0;

export class LocalPolicy implements Policy {
  readonly id: string;
  readonly theta: SharedArrayBuffer;
  readonly #shared: Shared;

  constructor(id: string, theta: SharedArrayBuffer, shared: Shared) {
    this.id = id;
    this.theta = theta;
    this.#shared = shared;
  }

  open(size: number): SamplingSession {
    const { threads, usage } = this.#shared;
    const batch = nextBatch++;
    const own = { sampled: 0, prefilled: 0 };
    const opened = Promise.all(threads.map((t) => t.call({ op: 'open', batch, theta: this.theta })));
    // A failed opening is reported by the first sample.
    opened.catch(() => {});
    // Neighbouring conversations share a worker, so a group's common prompt is prefilled once.
    const threadOf = (lane: number): number => Math.min(threads.length - 1, Math.floor((lane * threads.length) / size));
    return {
      async sample(requests: readonly SampleRequest[], lane: readonly number[]) {
        await opened;
        const out: Completion[] = new Array(requests.length);
        await Promise.all(
          threads.map(async (thread, t) => {
            const mine = requests.map((_, i) => i).filter((i) => threadOf(lane[i]!) === t);
            if (mine.length === 0) return;
            const result = await thread.call({
              op: 'sample',
              batch,
              requests: mine.map((i) => requests[i]!),
              lanes: mine.map((i) => lane[i]!),
            });
            mine.forEach((i, k) => {
              out[i] = result.completions[k]!;
            });
            for (const total of [usage, own]) {
              total.sampled += result.usage.sampled;
              total.prefilled += result.usage.prefilled;
            }
          }),
        );
        return out;
      },
      usage: () => ({ ...own }),
      async close() {
        await opened;
        await Promise.all(threads.map((t) => t.call({ op: 'close', batch })));
      },
    };
  }
}
