/** The conformance suite on every engine: what it says of good ones, and that it sees what is wrong with bad ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseGap } from '../../src/cli/gap.ts';
import { measureGap } from '../../src/engine/conformance/gap.ts';
import type { Finding } from '../../src/engine/conformance/probe.ts';
import { PROBES, runSuite } from '../../src/engine/conformance/suite.ts';
import { openOpenAIEngine } from '../../src/engine/openai/openai.ts';
import { scriptedEngine, scriptedTokenizer } from '../../src/engine/scripted.ts';
import type { Completion, Engine, Policy, SampleRequest, TrainingClient } from '../../src/engine.ts';
import { openTiny, tokensOf } from './fixture.ts';
import { fakeServer } from './openai-server.ts';
import { openSite, type Site } from './tinker-client-fixture.ts';

const PROMPTS = ['a', 'b', 'c', 'd'].map((name, i) => tokensOf(`conform/${name}`, 9 + i));
/** name → state, and what was found where it is not ok. */
const table = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ name, state, found }) => [name, state === 'ok' ? state : `${state}: ${found}`]));
const suite = async (engine: Engine, without: readonly string[] = []) =>
  table(await runSuite(engine, { prompts: PROMPTS, without }));
const allOk = Object.fromEntries(PROBES.map(({ name }) => [name, 'ok']));
const failures = (found: Readonly<Record<string, string>>) =>
  Object.keys(found).filter((name) => found[name]!.startsWith('failed'));

let site: Site;
let tiny: Engine;
beforeAll(async () => {
  site = await openSite();
  tiny = await openTiny({ workers: 1 });
});
afterAll(async () => {
  await site.close();
  await tiny.close();
});

describe('engines that pass', () => {
  it('local', async () => {
    expect(await suite(tiny)).toEqual(allOk);
  });

  it.each([
    ['json', {}],
    ['what another server would be spoken to', { profile: 'skyrl-train' as const }],
  ])('tinker on our own server: %s', async (_, over) => {
    expect(await suite(await site.client(over))).toEqual(allOk);
  });

  it('scripted, as far as a script goes', async () => {
    const engine = scriptedEngine({
      tags: [],
      script: (prompt, { key, temperature }) => `${temperature === 0 ? '' : key} of ${prompt.slice(0, 5)}`,
    });
    const training = PROBES.filter((p) => p.needs === 'training').map((p) => p.name);
    const without = ['unknown policies', 'top-k', ...training];
    const found = table(await runSuite(engine, { without }));
    expect(failures(found)).toEqual([]);
    expect(Object.values(found).filter((state) => state === 'ok')).toHaveLength(7);
  });

  it('openai in token ids: what samples and does not train', async () => {
    const tokenizer = scriptedTokenizer(['<end>']);
    const server = await fakeServer({ tokenizer, ownedBy: 'vllm', maxModelLen: 1000, say: (p) => `${p} and so on` });
    const engine = await openOpenAIEngine({ url: server.url, model: 'm', tokenizer });
    // The fake server says one thing whatever the seed is.
    const found = table(await runSuite(engine, { without: ['seeds'] }));
    expect(failures(found)).toEqual([]);
    expect(found['gradient sign']).toMatch(/skipped: .*samples and does not train/);
    await engine.close();
    await server.close();
  });
});

describe('engines with one fault', () => {
  const sampling = (
    change: (c: Completion, r: SampleRequest) => Completion,
    key = (r: SampleRequest) => r.key,
  ): Engine => {
    const wrap = (policy: Policy): Policy => ({
      id: policy.id,
      open(size) {
        const session = policy.open(size);
        return {
          async sample(requests, lane) {
            const all = await session.sample(
              requests.map((r) => ({ ...r, key: key(r) })),
              lane,
            );
            return all.map((c, i) => change(c, requests[i]!));
          },
          close: () => session.close(),
        };
      },
    });
    return { ...tiny, policy: async (id) => wrap(await tiny.policy(id)) };
  };
  const trained = (change: (client: TrainingClient) => Partial<TrainingClient>): Engine => ({
    ...tiny,
    async train(state) {
      const client = await tiny.train(state);
      return {
        forwardBackward: (...args) => client.forwardBackward(...args),
        forward: (...args) => client.forward(...args),
        optimStep: (settings) => client.optimStep(settings),
        snapshot: () => client.snapshot(),
        save: () => client.save(),
        load: (to) => client.load(to),
        close: () => client.close(),
        ...change(client),
      };
    },
  });
  const scaled = (factor: (n: number) => number): Engine =>
    trained((client) => ({
      forwardBackward: (batch, loss, options) =>
        client.forwardBackward(
          batch.map((d) => ({
            ...d,
            ...(d.advantages && { advantages: d.advantages.map((a) => a * factor(batch.length)) }),
          })),
          loss,
          options,
        ),
    }));
  let draws = 0;
  let shared: Promise<TrainingClient> | null = null;
  let newest = '';

  it.each<[string, () => Engine, readonly string[]]>([
    [
      'the stop token is left out',
      () =>
        sampling((c) =>
          c.finish === 'stop' ? { ...c, tokens: c.tokens.slice(0, -1), logprobs: c.logprobs.slice(0, -1) } : c,
        ),
      ['stop tokens'],
    ],
    [
      'log-probabilities are zeros',
      () => sampling((c) => ({ ...c, logprobs: c.logprobs.map(() => 0) })),
      ['log-probabilities', 'recomputation', 'snapshots'],
    ],
    [
      'seeds are ignored',
      () =>
        sampling(
          (c) => c,
          () => `draw ${draws++}`,
        ),
      ['seeds'],
    ],
    [
      'sampler and trainer differ',
      () => sampling((c) => ({ ...c, logprobs: c.logprobs.map((x) => x - 0.1) })),
      ['recomputation', 'snapshots'],
    ],
    ['gradients have the wrong sign', () => scaled(() => -1), ['gradient sign', 'gradient scale']],
    ['losses are means over the batch', () => scaled((n) => 1 / n), ['gradient scale']],
    [
      'the optimizer is not loaded',
      () => ({ ...tiny, train: (state) => tiny.train({ ...state, optimizer: null }) }),
      ['save and load'],
    ],
    [
      'adapters are one',
      () => ({
        ...tiny,
        async train(state) {
          shared ??= tiny.train(state);
          return { ...wrapped(await shared), close: async () => {} };
        },
      }),
      ['gradient sign', 'gradient scale', 'save and load', 'four adapters'],
    ],
    [
      'old policies are sampled with the newest weights',
      () => ({
        ...trained((client) => ({
          async optimStep(settings) {
            const out = await client.optimStep(settings);
            newest = (await client.snapshot()).id;
            return out;
          },
        })),
        policy: (id) => tiny.policy(id === tiny.base.policy || newest === '' ? id : newest),
      }),
      ['snapshots'],
    ],
  ])('%s', async (_, open, expected) => {
    expect(failures(await suite(open()))).toEqual(expected);
  });
  const wrapped = (client: TrainingClient): TrainingClient => ({
    forwardBackward: (...args) => client.forwardBackward(...args),
    forward: (...args) => client.forward(...args),
    optimStep: (settings) => client.optimStep(settings),
    snapshot: () => client.snapshot(),
    save: () => client.save(),
    load: (to) => client.load(to),
    close: () => client.close(),
  });

  it('a gap between sampler and trainer is measured, and refuses a run', async () => {
    const off = sampling((c) => ({ ...c, logprobs: c.logprobs.map((x) => x - 0.1) }));
    const prompts = PROMPTS.slice(0, 2);
    expect((await measureGap(tiny, prompts)).mean).toBeCloseTo(0, 4);
    const gap = await measureGap(off, prompts);
    expect(gap.mean).toBeCloseTo(-0.1, 4);
    expect(gap.tokens).toBe(32);
    const told: string[] = [];
    const progress = { note: (text: string) => told.push(text) } as unknown as Parameters<typeof refuseGap>[2];
    const engine: Engine = { ...off, tokenizer: { ...tiny.tokenizer, encode: () => [...PROMPTS[0]!] } };
    await expect(refuseGap(engine, 0.05, progress)).rejects.toThrow(/differ by -0.1 nats a token.*--max-gap 0.15/);
    await refuseGap(engine, 0.15, progress);
    expect(told).toHaveLength(2);
  });
});
