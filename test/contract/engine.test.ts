/** What every Engine does. A new implementation adds a row to `implementations`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptedEngine } from '../../src/engine/scripted.ts';
import type { Completion, Datum, Engine, Policy, SampleRequest, TrainingClient } from '../../src/engine.ts';
import { ADAM, furthest, openTiny, request, tokensOf } from '../engine/fixture.ts';

const implementations: readonly {
  readonly name: string;
  /** Has weights: log-probabilities, losses and gradients mean something. */
  readonly learns: boolean;
  open(): Promise<Engine>;
}[] = [
  { name: 'local', learns: true, open: openTiny },
  {
    name: 'scripted',
    learns: false,
    open: async () => scriptedEngine({ tags: [], script: (prompt, { key }, policy) => `${policy} ${key} ${prompt}` }),
  },
];

/** Prompts of several lengths, two of them equal. */
const requests: readonly SampleRequest[] = [3, 17, 64, 65, 90, 17].map((n, i) =>
  request(`k${i}`, tokensOf(`p${n}`, n), { maxTokens: 8 + 3 * i }),
);

describe.each(implementations)('engine contract: $name', ({ learns, open }) => {
  let engine: Engine;
  let base: Policy;
  let sampled: readonly Completion[];
  let data: readonly Datum[];
  beforeAll(async () => {
    engine = await open();
    base = await engine.policy(engine.base.policy);
    sampled = await sample(base, requests);
    data = requests.map((r, i) => datumOf(r, sampled[i]!, 1));
  });
  afterAll(() => engine.close());

  async function sample(policy: Policy, asked: readonly SampleRequest[]): Promise<readonly Completion[]> {
    const session = policy.open(asked.length);
    const out = await session.sample(
      asked,
      asked.map((_, i) => i),
    );
    await session.close();
    return out;
  }
  const alone = async (policy: Policy): Promise<Completion[]> => {
    const out = [];
    for (const r of requests) out.push(...(await sample(policy, [r])));
    return out;
  };
  const client = (): Promise<TrainingClient> => engine.train(engine.base);
  /** What was sampled, as training data with `value` at the sampled positions. */
  const datumOf = (r: SampleRequest, c: Completion, value: number): Datum => {
    const [before, T] = [r.prompt.length - 1, r.prompt.length + c.tokens.length - 1];
    const at = (f: (i: number) => number): number[] =>
      Array.from({ length: T }, (_, t) => (t < before ? 0 : f(t - before)));
    const values = at(() => value);
    return {
      tokens: [...r.prompt, ...c.tokens],
      weights: values,
      advantages: values,
      logprobs: at((i) => c.logprobs[i]!),
    };
  };
  /** Sum over the weighted positions of each datum. */
  const sums = async (training: TrainingClient, batch: readonly Datum[]): Promise<number[]> => {
    const { logprobs } = await training.forwardBackward(batch, 'cross_entropy');
    return batch.map((d, i) => logprobs[i]!.reduce((sum, x, t) => sum + (d.weights![t] === 0 ? 0 : x), 0));
  };

  it('gives one log-probability a token, and stops at a stop token or at maxTokens', async () => {
    for (const [i, c] of (await sample(base, requests)).entries()) {
      const { maxTokens, stop } = requests[i]!;
      expect(c.logprobs).toHaveLength(c.tokens.length);
      expect(c.logprobs.every((x) => x <= 0 && Number.isFinite(x))).toBe(true);
      expect(c.tokens.length).toBeLessThanOrEqual(maxTokens);
      expect(c.tokens.slice(0, -1).some((t) => stop.includes(t))).toBe(false);
      if (c.finish === 'length') expect(c.tokens).toHaveLength(maxTokens);
    }
    const [first] = await sample(base, [requests[0]!]);
    const stop = [first!.tokens[2]!];
    const [cut] = await sample(base, [{ ...requests[0]!, stop }]);
    expect(cut!.tokens).toEqual(first!.tokens.slice(0, first!.tokens.indexOf(stop[0]!) + 1));
    expect(cut!.finish).toBe('stop');
  });

  it('samples the same tokens for the same policy, prompt and key', async () => {
    expect(await sample(base, requests)).toEqual(await sample(base, requests));
    const again = await sample(await engine.policy(base.id), requests);
    expect(again).toEqual(await sample(base, requests));
  });

  it('samples other tokens for another key', async () => {
    const [a, b] = await sample(base, [requests[4]!, { ...requests[4]!, key: 'other' }]);
    expect(a!.tokens).not.toEqual(b!.tokens);
  });

  it('gives each request what it gets alone, in request order', async () => {
    const together = await sample(base, requests);
    for (const [i, c] of (await alone(base)).entries()) {
      expect(c.tokens).toEqual(together[i]!.tokens);
      expect(furthest(c.logprobs, together[i]!.logprobs)).toBeLessThan(1e-5);
    }
    const session = base.open(requests.length);
    const lanes = [4, 0, 5, 2, 1, 3];
    const shuffled = await session.sample(
      lanes.map((i) => requests[i]!),
      lanes,
    );
    await session.close();
    expect(shuffled.map((c) => c.tokens)).toEqual(lanes.map((i) => together[i]!.tokens));
  });

  it('continues conversations as if they were read anew, also when some have ended', async () => {
    const session = base.open(requests.length);
    const first = await session.sample(
      requests,
      requests.map((_, i) => i),
    );
    const next = [1, 3, 4].map((i) => ({
      ...requests[i]!,
      key: `next${i}`,
      prompt: [...requests[i]!.prompt, ...first[i]!.tokens, ...tokensOf(`tool${i}`, 5 * i)],
    }));
    const continued = await session.sample(next, [1, 3, 4]);
    await session.close();
    const anew = await sample(base, next);
    continued.forEach((c, i) => {
      expect(c.tokens).toEqual(anew[i]!.tokens);
      expect(furthest(c.logprobs, anew[i]!.logprobs)).toBeLessThan(1e-4);
    });
  });

  it('freezes a snapshot while training goes on, and addresses it', async () => {
    const training = await client();
    const batch = [datumOf(requests[0]!, (await sample(base, requests))[0]!, 1)];
    const before = await training.snapshot();
    expect(before.id).toBe(base.id);
    await training.forwardBackward(batch, 'cross_entropy');
    await training.optimStep({ ...ADAM, learningRate: 0.05 });
    const after = await training.snapshot();
    expect(after.id).not.toBe(base.id);
    expect(await sample(before, requests)).toEqual(await sample(base, requests));
    expect(await sample(after, requests)).not.toEqual(await sample(base, requests));
    expect(await sample(await engine.policy(after.id), requests)).toEqual(await sample(after, requests));
    await training.close();
  });

  it.each([{}, { muonRate: 0.01, weightDecay: 0.1, gradClip: 1 }])(
    'continues from a saved state exactly as if unbroken (%o)',
    async (over) => {
      const settings = { ...ADAM, ...over };
      const batch = (step: number): Datum[] =>
        [3, 40].map((n) => ({
          tokens: tokensOf(`${step}/${n}`, n + 1),
          weights: Array.from({ length: n }, () => 0.1),
        }));
      const step = async (training: TrainingClient, n: number): Promise<void> => {
        await training.forwardBackward(batch(n), 'cross_entropy');
        await training.optimStep(settings);
      };
      const unbroken = await client();
      for (const n of [0, 1]) await step(unbroken, n);
      const middle = await unbroken.save();
      for (const n of [2, 3]) await step(unbroken, n);
      const resumed = await engine.train(middle);
      for (const n of [2, 3]) await step(resumed, n);
      const end = await unbroken.save();
      expect(await resumed.save()).toEqual(end);
      expect(end).not.toEqual(middle);
      await unbroken.load(middle);
      expect(await unbroken.save()).toEqual(middle);
      if (learns) {
        // Without the optimizer's part the next step is another one.
        const forgetful = await engine.train({ ...middle, optimizer: null });
        for (const n of [2, 3]) await step(forgetful, n);
        expect((await forgetful.save()).policy).not.toBe(end.policy);
      }
    },
  );

  it('counts work as it is done', async () => {
    const before = engine.usage();
    const out = await sample(base, requests);
    const between = engine.usage();
    await (await client()).forwardBackward([{ tokens: [1, 2, 3, 4], weights: [1, 1, 1] }], 'cross_entropy');
    const after = engine.usage();
    const prompts = requests.reduce((n, r) => n + r.prompt.length, 0);
    expect(between.prefilled - before.prefilled).toBeGreaterThan(0);
    expect(between.prefilled - before.prefilled).toBeLessThanOrEqual(prompts);
    expect([after.sampled, after.prefilled]).toEqual([between.sampled, between.prefilled]);
    expect(after.trained).toBeGreaterThan(between.trained);
    if (!learns) return;
    expect(between.sampled - before.sampled).toBe(out.reduce((n, c) => n + c.tokens.length, 0));
    expect(after.trained - between.trained).toBe(3);
  });

  describe.runIf(learns)('log-probabilities and gradients', () => {
    it('computes in training the log-probabilities that sampling gave', async () => {
      for (const temperature of [1, 0.7, 0]) {
        const asked = requests.map((r) => ({ ...r, temperature }));
        const out = await sample(base, asked);
        const batch = asked.map((r, i) => datumOf(r, out[i]!, 1));
        const { logprobs, loss } = await (await client()).forwardBackward(batch, 'cross_entropy');
        let total = 0;
        out.forEach((c, i) => {
          const tail = logprobs[i]!.slice(asked[i]!.prompt.length - 1);
          expect(logprobs[i]).toHaveLength(batch[i]!.tokens.length - 1);
          expect(furthest(tail, c.logprobs)).toBeLessThan(1e-4);
          total -= tail.reduce((a, b) => a + b, 0);
        });
        expect(loss).toBeCloseTo(total, 3);
      }
    });

    it('computes the same log-probabilities however the batch is cut', async () => {
      const training = await client();
      const whole = await training.forwardBackward(data, 'cross_entropy');
      for (const [i, d] of data.entries()) {
        const { logprobs } = await training.forwardBackward([d], 'cross_entropy');
        expect(furthest(logprobs[0]!, whole.logprobs[i]!)).toBeLessThan(1e-5);
      }
    });

    it('lowers the loss by cross_entropy', async () => {
      const training = await client();
      const before = await sums(training, data);
      await training.optimStep(ADAM);
      const after = await sums(training, data);
      expect(after.every((x, i) => x > before[i]!)).toBe(true);
    });

    it.each(['importance_sampling', 'ppo'] as const)('%s: praise raises and blame lowers', async (loss) => {
      const signs = requests.map((_, i) => (i % 2 ? -1 : 1));
      const batch = requests.map((r, i) => datumOf(r, sampled[i]!, signs[i]!));
      const training = await client();
      const result = await training.forwardBackward(batch, loss);
      // All ratios are 1: the loss is minus the sum of advantages.
      const total = batch.reduce((sum, d) => sum - d.advantages!.reduce((a, b) => a + b, 0), 0);
      expect(result.loss).toBeCloseTo(total, 2);
      await training.optimStep({ ...ADAM, learningRate: 2e-4 });
      const before = sampled.map((c) => c.logprobs.reduce((a, b) => a + b, 0));
      const after = await sums(training, batch);
      after.forEach((x, i) => {
        expect(Math.sign(x - before[i]!), `datum ${i}`).toBe(signs[i]);
      });
    });

    it('ppo has no gradient beyond the clip, importance_sampling has', async () => {
      const norm = async (loss: 'ppo' | 'importance_sampling', shift: number, advantage: number): Promise<number> => {
        const training = await client();
        const d = datumOf(requests[1]!, sampled[1]!, advantage);
        await training.forwardBackward([{ ...d, logprobs: d.logprobs!.map((x) => x - shift) }], loss);
        return (await training.optimStep(ADAM)).gradNorm;
      };
      // ratio = exp(shift); the clip binds above 1.2 for praise and below 0.8 for blame.
      expect(await norm('ppo', 0.19, 1)).toBe(0);
      expect(await norm('ppo', 0.17, 1)).toBeGreaterThan(0);
      expect(await norm('ppo', 0.19, -1)).toBeGreaterThan(0);
      expect(await norm('ppo', -0.23, -1)).toBe(0);
      expect(await norm('ppo', -0.21, -1)).toBeGreaterThan(0);
      expect(await norm('importance_sampling', 0.19, 1)).toBeGreaterThan(0);
    });

    it('accumulates: two calls are one call', async () => {
      // A large eps makes the step proportional to the gradient.
      const settings = { ...ADAM, eps: 10, learningRate: 0.1 };
      const [one, two] = [await client(), await client()];
      await one.forwardBackward(data, 'cross_entropy');
      await two.forwardBackward(data.slice(0, 2), 'cross_entropy');
      await two.forwardBackward(data.slice(2), 'cross_entropy');
      const [a, b] = [await one.optimStep(settings), await two.optimStep(settings)];
      expect(a.gradNorm).toBeGreaterThan(1);
      expect(Math.abs(a.gradNorm / b.gradNorm - 1)).toBeLessThan(1e-5);
      const [after, before] = [await sums(one, data), sampled.map((c) => c.logprobs.reduce((x, y) => x + y, 0))];
      expect(furthest(after, await sums(two, data))).toBeLessThan(1e-4);
      expect(furthest(after, before)).toBeGreaterThan(1e-2);
    });

    it('clears the gradient with the step', async () => {
      const training = await client();
      await training.forwardBackward(data, 'cross_entropy');
      await training.optimStep({ ...ADAM, learningRate: 0 });
      expect((await training.optimStep(ADAM)).gradNorm).toBe(0);
    });

    it('zero weights and advantages give zero gradient and leave the weights alone', async () => {
      const training = await client();
      const zero = data.map((d) => ({ ...d, weights: d.weights!.map(() => 0), advantages: d.weights!.map(() => 0) }));
      for (const loss of ['cross_entropy', 'importance_sampling', 'ppo'] as const) {
        expect(Math.abs((await training.forwardBackward(zero, loss)).loss)).toBe(0);
      }
      expect((await training.optimStep(ADAM)).gradNorm).toBe(0);
      expect((await training.snapshot()).id).toBe(base.id);
      // A masked datum beside a live one adds nothing.
      const [live, both] = [await client(), await client()];
      await live.forwardBackward([data[3]!], 'cross_entropy');
      await both.forwardBackward([data[3]!, zero[2]!], 'cross_entropy');
      const [a, b] = [await live.optimStep(ADAM), await both.optimStep(ADAM)];
      expect(Math.abs(a.gradNorm / b.gradNorm - 1)).toBeLessThan(1e-5);
    });
  });
});
