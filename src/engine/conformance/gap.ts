/**
 * The gap between sampler and trainer: for tokens that were sampled, log p(sampler) - log p(trainer). Off-policy drift that
 * nobody asked for; where it is large, importance weights mean little.
 */
import type { Datum, Engine } from '../../engine.ts';
import { askFor, sampled } from './probe.ts';

export interface Gap {
  /** Mean of the difference: an estimate of KL(sampler, trainer) per token, in nats. */
  readonly mean: number;
  /** Largest difference of a token, either way. */
  readonly worst: number;
  readonly tokens: number;
}

/** Means above this refuse a run: bf16 servers are at a few thousandths. */
export const LARGEST_GAP = 0.05;

/** On the base policy. */
export async function measureGap(
  engine: Engine,
  prompts: readonly (readonly number[])[],
  maxTokens = 16,
): Promise<Gap> {
  const policy = await engine.policy(engine.base.policy);
  const requests = prompts.map((prompt, i) => askFor(prompt, { key: `gap/${i}`, maxTokens }));
  const completions = await sampled(policy, requests);
  const asked = requests.flatMap(({ prompt }, i) => {
    const { tokens, logprobs } = completions[i]!;
    return tokens.length === 0 ? [] : [{ prompt, tokens, logprobs }];
  });
  const data = asked.map(({ prompt, tokens }): Datum => {
    const all = [...prompt, ...tokens];
    return { tokens: all, weights: all.slice(1).map((_, t) => (t >= prompt.length - 1 ? 1 : 0)) };
  });
  const client = await engine.train(engine.base);
  try {
    const out = await client.forward(data, 'cross_entropy', { everywhere: true });
    const differences = asked.flatMap(({ prompt, logprobs }, i) =>
      logprobs.map((p, t) => p - out.logprobs[i]![prompt.length - 1 + t]!),
    );
    const mean = differences.reduce((a, b) => a + b, 0) / Math.max(1, differences.length);
    return { mean, worst: Math.max(0, ...differences.map(Math.abs)), tokens: differences.length };
  } finally {
    await client.close();
  }
}
