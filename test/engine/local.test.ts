/** The local engine on worker threads: repeatable, independent of the number of threads, and loud when one dies. */
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Completion, Datum, Engine, StateRef } from '../../src/engine.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { ADAM, furthest, memoryBlobs, openTiny, request, TINY, tokensOf } from './fixture.ts';

const started: Worker[] = [];
vi.mock('node:worker_threads', async (original) => {
  const module = await original<typeof import('node:worker_threads')>();
  return {
    ...module,
    Worker: class extends module.Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args);
        started.push(this);
      }
    },
  };
});

const engines: Engine[] = [];
const open = async (over: Parameters<typeof openTiny>[0] = {}): Promise<Engine> => {
  const engine = await openTiny(over);
  engines.push(engine);
  return engine;
};
beforeEach(() => void started.splice(0));
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

const requests = Array.from({ length: 9 }, (_, i) => request(`k${i}`, tokensOf(`p${i}`, 4 + 9 * i)));
const lanes = requests.map((_, i) => i);

async function sampleAll(engine: Engine, policy = engine.base.policy): Promise<readonly Completion[]> {
  const session = (await engine.policy(policy)).open(requests.length);
  const out = await session.sample(requests, lanes);
  await session.close();
  return out;
}

/** Three steps of policy gradient on the engine's own samples. */
async function trainALittle(engine: Engine): Promise<{ state: StateRef; norms: number[]; logprobs: number[] }> {
  const out = await sampleAll(engine);
  const batch = requests.map(({ prompt }, i): Datum => {
    const tokens = [...prompt, ...out[i]!.tokens];
    const at = (f: (k: number) => number): number[] =>
      tokens.slice(1).map((_, t) => (t < prompt.length - 1 ? 0 : f(t - prompt.length + 1)));
    return { tokens, advantages: at(() => (i % 3) - 1), logprobs: at((k) => out[i]!.logprobs[k]!) };
  });
  const client = await engine.train(engine.base);
  const norms: number[] = [];
  let logprobs: number[] = [];
  for (let step = 0; step < 3; step++) {
    logprobs = (await client.forwardBackward(batch, 'ppo')).logprobs.flat();
    norms.push((await client.optimStep({ ...ADAM, eps: 1e-3 })).gradNorm);
  }
  const state = await client.save();
  await client.close();
  return { state, norms, logprobs };
}

describe('local engine on worker threads', () => {
  it('repeats itself bit by bit, in one engine and in another', async () => {
    const [a, b] = [await open(), await open()];
    expect(await sampleAll(a)).toEqual(await sampleAll(b));
    const trained = await trainALittle(a);
    expect(trained.norms.every((n) => n > 0)).toBe(true);
    expect(await trainALittle(a)).toEqual(trained);
    expect(await trainALittle(b)).toEqual(trained);
  });

  it('one worker and two come close, and the number is part of the fingerprint', async () => {
    const [one, two] = [await open({ workers: 1 }), await open({ workers: 2 })];
    expect(started).toHaveLength(3);
    expect(one.fingerprint).not.toBe(two.fingerprint);
    expect(one.base).toEqual(two.base);
    const [a, b] = [await sampleAll(one), await sampleAll(two)];
    expect(a.map((c) => c.tokens)).toEqual(b.map((c) => c.tokens));
    a.forEach((c, i) => {
      expect(furthest(c.logprobs, b[i]!.logprobs)).toBeLessThan(1e-5);
    });
    const [x, y] = [await trainALittle(one), await trainALittle(two)];
    expect(furthest(x.logprobs, y.logprobs)).toBeLessThan(1e-4);
    x.norms.forEach((n, i) => {
      expect(Math.abs(n / y.norms[i]! - 1)).toBeLessThan(1e-4);
    });
  });

  it('two batches and a training at the same time do not disturb each other', async () => {
    const engine = await open();
    const alone = [await sampleAll(engine), await trainALittle(engine)] as const;
    const [a, b, t] = await Promise.all([sampleAll(engine), sampleAll(engine), trainALittle(engine)]);
    expect(a).toEqual(alone[0]);
    expect(b).toEqual(alone[0]);
    expect(t).toEqual(alone[1]);
  });

  it('reads policies again that it no longer keeps in memory', async () => {
    const engine = await open();
    const first = await sampleAll(engine);
    const client = await engine.train(engine.base);
    for (let i = 0; i < 14; i++) {
      await client.forwardBackward([{ tokens: [1, 2, 3], weights: [1, 1] }], 'cross_entropy');
      await client.optimStep(ADAM);
      await client.snapshot();
    }
    expect(await sampleAll(engine)).toEqual(first);
  });

  it.each([0, 1])('worker %i dying is an InfraError for what waits and for what comes', async (dies) => {
    const engine = await open();
    const session = (await engine.policy(engine.base.policy)).open(requests.length);
    const client = await engine.train(engine.base);
    const waiting = session.sample(requests, lanes);
    const failed = expect(waiting).rejects.toThrow(InfraError);
    await started[dies]!.terminate();
    await failed;
    await expect(session.sample(requests, lanes)).rejects.toThrow(/worker ended.*Run the same command again/);
    const batch = requests.map(({ prompt }) => ({ tokens: prompt, weights: prompt.slice(1).map(() => 1) }));
    await expect(client.forwardBackward(batch, 'cross_entropy')).rejects.toThrow(InfraError);
    await expect(sampleAll(engine)).rejects.toThrow(InfraError);
    // Nobody waits for this one: it must not end the process.
    (await engine.policy(engine.base.policy)).open(1);
  });

  it('leaves no thread behind when it cannot be opened', async () => {
    const full = { ...memoryBlobs(), put: () => Promise.reject(new InfraError('disk full')) };
    await expect(openTiny({ blobs: full })).rejects.toThrow('disk full');
    expect(started.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });

  it('closing ends what waits', async () => {
    const engine = await open();
    const waiting = expect(sampleAll(engine)).rejects.toThrow(InfraError);
    await engine.close();
    await waiting;
  });
});

describe('what cannot be done', () => {
  it('a prompt that fills the context, an empty one, or unknown tokens', async () => {
    const engine = await open();
    const session = (await engine.policy(engine.base.policy)).open(1);
    const ask = (prompt: readonly number[]): Promise<unknown> => session.sample([request('q7', prompt)], [0]);
    const { contextLength } = TINY;
    await expect(ask(tokensOf('long', contextLength))).rejects.toThrow(
      new UserError('request q7: prompt of 192 tokens; expected 1 to 191 (the context holds 192)'),
    );
    await expect(ask([])).rejects.toThrow('request q7: prompt of 0 tokens');
    await expect(ask([1, 24])).rejects.toThrow(new UserError('request q7: token 24; the vocabulary has 24'));
    expect(await ask(tokensOf('long', contextLength - 1))).toHaveLength(1);
  });

  it('a datum too short, too long, of uneven lists or of unknown tokens', async () => {
    const engine = await open();
    const client = await engine.train(engine.base);
    const good = { tokens: [1, 2, 3], weights: [1, 1] };
    const bad: readonly (readonly [Partial<Datum>, string])[] = [
      [{ tokens: [1] }, 'datum 1 has 1 tokens; expected 2 to 193 (the context and a target)'],
      [{ tokens: tokensOf('x', 194) }, 'datum 1 has 194 tokens; expected 2 to 193 (the context and a target)'],
      [{ weights: [1] }, 'datum 1 has 1 weights; expected 2, one per target'],
      [{ logprobs: [0, 0, 0] }, 'datum 1 has 3 logprobs; expected 2, one per target'],
      [{ tokens: [1, 2, -1] }, 'datum 1 has token -1; the vocabulary has 24'],
    ];
    for (const [over, message] of bad) {
      const trained = client.forwardBackward([good, { ...good, ...over }], 'cross_entropy');
      await expect(trained).rejects.toThrow(new UserError(message));
    }
    expect((await client.optimStep(ADAM)).gradNorm).toBe(0);
  });

  it('a context that is no multiple of anything trains to its last token', async () => {
    const engine = await open({ config: { ...TINY, contextLength: 165 } });
    const client = await engine.train(engine.base);
    const tokens = tokensOf('whole', 166);
    const { logprobs } = await client.forwardBackward(
      [{ tokens, weights: tokens.slice(1).map(() => 1) }],
      'cross_entropy',
    );
    expect(logprobs[0]).toHaveLength(165);
    const session = (await client.snapshot()).open(1);
    const [c] = await session.sample([request('end', tokens.slice(0, 160), { stop: [], maxTokens: 99 })], [0]);
    expect(c!.tokens).toHaveLength(5);
    expect(c!.finish).toBe('length');
  });

  it('refuses a step after which the weights are no numbers', async () => {
    const engine = await open();
    const client = await engine.train(engine.base);
    const tokens = tokensOf('burnt', 12);
    await client.forwardBackward([{ tokens, weights: tokens.slice(1).map(() => 1) }], 'cross_entropy');
    await expect(client.optimStep({ ...ADAM, learningRate: 1e39 })).rejects.toThrow(
      /no finite numbers .* lower the learning rate/,
    );
    await client.close();
  });
});
