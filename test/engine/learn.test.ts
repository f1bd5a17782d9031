/** Small tasks learned through the public verbs alone. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { initialWeights } from '../../src/engine/local/init.ts';
import type { Datum, Engine } from '../../src/engine.ts';
import { rng } from '../../src/util/rng.ts';
import { ADAM, openTiny, request, TINY } from './fixture.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await openTiny({ weights: initialWeights(TINY, 2) });
});
afterAll(() => engine.close());

/** Ten symbols; the prompt shows one of them behind a random one. */
const [ASK, FIRST, SYMBOLS] = [1, 2, 10];
const PROMPTS = 16;
const GROUP = 8;

it('copies a symbol after policy gradient on a reward alone', async () => {
  const client = await engine.train(engine.base);
  const rewards: number[] = [];
  for (let step = 0; step < 80; step++) {
    const draw = rng('copy', step);
    const asked = Array.from({ length: PROMPTS }, () => [
      FIRST + draw.below(SYMBOLS),
      FIRST + draw.below(SYMBOLS),
      ASK,
    ]);
    const requests = asked.flatMap((prompt, p) =>
      Array.from({ length: GROUP }, (_, i) => request(`${step}/${p}/${i}`, prompt, { maxTokens: 1, stop: [] })),
    );
    const session = (await client.snapshot()).open(requests.length);
    const out = await session.sample(
      requests,
      requests.map((_, i) => i),
    );
    await session.close();
    const reward = out.map((c, i) => Number(c.tokens[0] === requests[i]!.prompt[1]));
    rewards.push(reward.reduce((a, b) => a + b, 0) / reward.length);
    const batch = out.map((c, i): Datum => {
      const group = reward.slice(i - (i % GROUP), i - (i % GROUP) + GROUP);
      const mean = group.reduce((a, b) => a + b, 0) / GROUP;
      return {
        tokens: [...requests[i]!.prompt, ...c.tokens],
        advantages: [0, 0, (reward[i]! - mean) / Math.sqrt(mean * (1 - mean) + 1e-3) / out.length],
        logprobs: [0, 0, c.logprobs[0]!],
      };
    });
    await client.forwardBackward(batch, 'ppo');
    await client.optimStep({ ...ADAM, learningRate: 1e-2, gradClip: 1 });
  }
  await client.close();
  const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
  expect(mean(rewards.slice(0, 3))).toBeLessThan(0.1);
  expect(mean(rewards.slice(-5))).toBeGreaterThan(0.9);
});

it('recalls by cross_entropy: the loss of sums modulo five falls from chance to nothing', async () => {
  const client = await engine.train(engine.base);
  const batch = Array.from({ length: 25 }, (_, i): Datum => {
    const [a, b] = [i % 5, Math.floor(i / 5)];
    return { tokens: [FIRST + a, FIRST + b, ASK, FIRST + ((a + b) % 5)], weights: [0, 0, 1 / 25] };
  });
  const losses: number[] = [];
  for (let step = 0; step < 80; step++) {
    losses.push((await client.forwardBackward(batch, 'cross_entropy')).loss);
    await client.optimStep({ ...ADAM, learningRate: 5e-3 });
  }
  // Five equally likely answers among 24 tokens: at least ln 5 without the sum, 0 with it.
  expect(losses[0]).toBeGreaterThan(Math.log(5));
  expect(losses.at(-1)).toBeLessThan(0.1);
  const session = (await client.snapshot()).open(25);
  const asked = batch.map((d, i) => request(`sum${i}`, d.tokens.slice(0, 3), { temperature: 0, maxTokens: 1 }));
  const out = await session.sample(
    asked,
    asked.map((_, i) => i),
  );
  await session.close();
  expect(out.map((c) => c.tokens[0])).toEqual(batch.map((d) => d.tokens[3]));
});
