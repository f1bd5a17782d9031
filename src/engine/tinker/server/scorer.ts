/** Log-probabilities of given tokens under frozen policies, by one training client that is never trained. */
import type { Engine, TrainingClient } from '../../../engine.ts';

export interface Scorer {
  /** log p(prompt[t] | prompt[..t-1]) for t = 1 on. */
  score(policy: string, prompt: readonly number[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

export function openScorer(engine: Engine): Scorer {
  let client: Promise<TrainingClient> | null = null;
  let loaded: string | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const work = async (policy: string, prompt: readonly number[]): Promise<readonly number[]> => {
    const state = { policy, optimizer: null };
    client ??= engine.train(state);
    const training = await client;
    if (loaded !== policy) await training.load(state);
    loaded = policy;
    const { logprobs } = await training.forward([{ tokens: prompt }], 'cross_entropy');
    return logprobs[0]!;
  };

  return {
    score(policy, prompt) {
      if (prompt.length < 2) return Promise.resolve([]);
      const job = last.then(() => work(policy, prompt));
      last = job.catch(() => {
        loaded = null;
      });
      return job;
    },
    async close() {
      await last;
      await (await client)?.close();
    },
  };
}
