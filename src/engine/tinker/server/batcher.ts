/** Sampling requests of one policy and temperature that are there at the same time run as one batch of the engine. */
import type { Completion, Engine, SampleRequest } from '../../../engine.ts';

/** How long the first request of a batch waits for others. */
const GATHER_MS = 3;
/** Conversations of one batch. */
const MOST_LANES = 256;

interface Job {
  readonly requests: readonly SampleRequest[];
  readonly resolve: (completions: readonly Completion[]) => void;
  readonly reject: (error: unknown) => void;
}

/** @returns what samples the requests of one caller under a policy; their temperature is the same. */
export function openBatcher(
  engine: Engine,
): (policy: string, requests: readonly SampleRequest[]) => Promise<readonly Completion[]> {
  const queues = new Map<string, Job[]>();

  const run = async (policy: string, jobs: readonly Job[]): Promise<void> => {
    try {
      const requests = jobs.flatMap((job) => job.requests);
      const session = (await engine.policy(policy)).open(requests.length);
      try {
        const completions = await session.sample(
          requests,
          requests.map((_, i) => i),
        );
        let from = 0;
        for (const job of jobs) {
          job.resolve(completions.slice(from, from + job.requests.length));
          from += job.requests.length;
        }
      } finally {
        await session.close();
      }
    } catch (error) {
      for (const job of jobs) job.reject(error);
    }
  };

  const work = async (key: string, policy: string, queue: Job[]): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    while (queue.length > 0) {
      await run(policy, queue.splice(0, fitting(queue)));
    }
    queues.delete(key);
  };

  return (policy, requests) =>
    new Promise((resolve, reject) => {
      const key = `${policy}/${requests[0]!.temperature}`;
      const queue = queues.get(key);
      const job = { requests, resolve, reject };
      if (queue !== undefined) {
        queue.push(job);
        return;
      }
      const fresh = [job];
      queues.set(key, fresh);
      void work(key, policy, fresh);
    });
}

/** Jobs from the front that make one batch; the first always does. */
function fitting(queue: readonly Job[]): number {
  let lanes = 0;
  const end = queue.findIndex(({ requests }, i) => {
    lanes += requests.length;
    return i > 0 && lanes > MOST_LANES;
  });
  return end < 0 ? queue.length : end;
}
