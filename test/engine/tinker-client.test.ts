/** The client against our own server: what is trained, saved and sampled through the wire is what the engine does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Completion, Datum, Engine, Policy, StateRef } from '../../src/engine.ts';
import { ADAM, furthest, request, tokensOf } from './fixture.ts';
import { openSite, type Site } from './tinker-client-fixture.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const sample = (policy: Policy, keys: readonly string[]) =>
  policy.open(keys.length).sample(
    keys.map((key) => request(key, tokensOf('prompt', 9))),
    keys.map((_, i) => i),
  );
/** What is sampled with a request may move its last bits: the server batches what comes together. */
const expectSame = (a: readonly Completion[], b: readonly Completion[]): void => {
  expect(a.map((c) => c.tokens)).toEqual(b.map((c) => c.tokens));
  a.forEach((c, i) => {
    expect(furthest(c.logprobs, b[i]!.logprobs)).toBeLessThan(1e-5);
  });
};
const lesson = (name: string, n = 6): Datum => ({
  tokens: tokensOf(name, n + 1),
  weights: Array.from({ length: n }, () => 0.5),
});
const score = async (engine: Engine, state: { policy: string; optimizer: string | null }) => {
  const client = await engine.train(state);
  const { logprobs } = await client.forward([lesson('score', 20)], 'cross_entropy');
  await client.close();
  return logprobs[0]!;
};

describe.each(['json', 'proto'] as const)('through the wire, %s', (encoding) => {
  const over = encoding === 'proto' ? ({ profile: 'tuft' } as const) : {};
  let engine: Engine;
  beforeAll(async () => {
    process.env.TINKER_API_KEY = 'tml-test';
    engine = await site.client(over);
  });
  afterAll(() => {
    delete process.env.TINKER_API_KEY;
  });

  it('trains to the same numbers as in process, saves, and goes on', async () => {
    const local = site.world.engine;
    const [here, there] = [await local.train(local.base), await engine.train(engine.base)];
    for (const step of ['a', 'b']) {
      const [x, y] = [
        await here.forwardBackward([lesson(step), lesson(`${step}2`, 9)], 'cross_entropy', { everywhere: true }),
        await there.forwardBackward([lesson(step), lesson(`${step}2`, 9)], 'cross_entropy'),
      ];
      expect(y.loss).toBe(x.loss);
      expect(y.logprobs).toEqual(x.logprobs);
      expect(await there.optimStep(ADAM)).toEqual(await here.optimStep(ADAM));
    }
    const state = await there.save();
    expect(await there.save()).toBe(state);
    expect(state.policy).toMatch(/^tinker:\/\/.+\/sampler_weights\/s1#tinker:\/\/.+\/weights\/s1$/);
    const inside = await here.save();
    expect(await score(engine, state)).toEqual(await score(local, inside));

    const resumed = await engine.train(state);
    for (const client of [here, there, resumed]) {
      await client.forwardBackward([lesson('c')], 'cross_entropy');
      await client.optimStep(ADAM);
    }
    const expected = await score(local, await here.save());
    expect(await score(engine, await there.save())).toEqual(expected);
    expect(await score(engine, await resumed.save())).toEqual(expected);
    // A fresh optimizer on trained weights takes another step.
    const fresh = await engine.train({ policy: state.policy, optimizer: null });
    await fresh.forwardBackward([lesson('c')], 'cross_entropy');
    await fresh.optimStep(ADAM);
    expect(await score(engine, await fresh.save())).not.toEqual(expected);
  });

  it('samples frozen weights, whatever is trained meanwhile', async () => {
    const base = await engine.policy(engine.base.policy);
    const keys = ['k0', 'k1', 'k2'];
    const before = await sample(base, keys);
    expect(before.map((c) => c.logprobs.length)).toEqual(before.map((c) => c.tokens.length));
    const client = await engine.train(engine.base);
    await client.forwardBackward([lesson('x')], 'cross_entropy');
    await client.optimStep({ ...ADAM, learningRate: 0.05 });
    const trained = await client.snapshot();
    const after = await sample(trained, keys);
    await client.forwardBackward([lesson('y')], 'cross_entropy');
    await client.optimStep({ ...ADAM, learningRate: 0.05 });
    expectSame(await sample(base, keys), before);
    expectSame(await sample(trained, keys), after);
    expect(after.map((c) => c.tokens)).not.toEqual(before.map((c) => c.tokens));
    const again = await site.client(over);
    expectSame(await sample(await again.policy(trained.id), keys), after);
  });

  it('every loss', async () => {
    const local = site.world.engine;
    const n = 8;
    const datum: Datum = {
      tokens: tokensOf('loss', n + 1),
      advantages: Array.from({ length: n }, (_, t) => (t < 3 ? 0 : t % 2 === 0 ? 1.5 : -0.5)),
      logprobs: Array.from({ length: n }, (_, t) => (t < 3 ? 0 : -2.5 - t / 10)),
    };
    for (const loss of ['importance_sampling', 'ppo', 'cispo'] as const) {
      const [here, there] = [await local.train(local.base), await engine.train(engine.base)];
      const [x, y] = [
        await here.forwardBackward([datum], loss, { everywhere: true }),
        await there.forwardBackward([datum], loss),
      ];
      expect(y.loss).toBeCloseTo(x.loss, 5);
      expect(furthest(y.logprobs[0]!, x.logprobs[0]!)).toBe(0);
      expect((await there.optimStep(ADAM)).gradNorm).toBeCloseTo((await here.optimStep(ADAM)).gradNorm, 5);
    }
  });
});

describe('checkpoints that were replaced', () => {
  it('are removed from the server a state late, and the others stay', async () => {
    const engine = await site.client();
    const client = await engine.train(engine.base);
    const states = [];
    for (const step of ['a', 'b', 'c', 'd']) {
      await client.forwardBackward([lesson(step)], 'cross_entropy');
      await client.optimStep(ADAM);
      states.push(await client.save());
    }
    const [a, b, c, d] = states as [StateRef, StateRef, StateRef, StateRef];
    // The policy of b is kept though its optimizer is not: what it is loaded from stays.
    for (const id of [a.policy, a.optimizer!, b.optimizer!, c.policy, c.optimizer!, d.optimizer!])
      await engine.forget!(id);
    await expect(engine.train(a)).rejects.toThrow(/no longer has the checkpoint/);
    for (const kept of [b, c, d]) await (await engine.train({ ...kept, optimizer: null })).close();
    await engine.forget!('another');
    await engine.forget!('more');
    await expect(engine.train(c)).rejects.toThrow(/no longer has the checkpoint/);
    expect(await sample(await engine.policy(d.policy), ['k'])).toHaveLength(1);
  });
});
