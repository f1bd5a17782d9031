/** What servers answer besides results, and what becomes of the run: waits, repeats, one clear error, never a step twice. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readTarget } from '../../src/engine/tinker/client/options.ts';
import type { ProfileName } from '../../src/engine/tinker/client/profiles.ts';
import { MANNERS } from '../../src/engine/tinker/server/settings.ts';
import type { Datum, Engine, StateRef, TrainingClient } from '../../src/engine.ts';
import { InfraError, UserError } from '../../src/util/error.ts';
import { ADAM, request, tokensOf } from './fixture.ts';
import { openSite, reply, type Site, TIMES } from './tinker-client-fixture.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
beforeEach(() => {
  site.hook = () => null;
  site.calls.length = 0;
});
afterAll(() => site.close());

const lesson: readonly Datum[] = [{ tokens: tokensOf('lesson', 9), weights: [1, 1, 1, 1, 1, 1, 1, 1] }];
const scoreOf = async (client: TrainingClient) => (await client.forward(lesson, 'cross_entropy')).logprobs[0]!;
/** Log-probabilities after one step, made where nothing goes wrong. */
const afterOne = async (): Promise<readonly number[]> => {
  const { engine } = site.world;
  const client = await engine.train(engine.base);
  await client.forwardBackward(lesson, 'cross_entropy');
  await client.optimStep(ADAM);
  return scoreOf(client);
};
/** The first `times` calls of `path` get `answer`. */
const first = (path: string, times: number, answer: () => Response): void => {
  let left = times;
  site.hook = (call) => (call.path === path && left-- > 0 ? answer() : null);
};
const paths = () => site.calls.map((call) => call.path);

describe('answers of retrieve_future that are no result yet', () => {
  it.each([
    ['408', () => reply(408, { queue_state: 'active' })],
    ['425', () => reply(425, { detail: 'still being created' })],
    ['429', () => reply(429, { detail: 'slow down' })],
    ['500', () => reply(500, { detail: 'oops' })],
    ['try_again', () => reply(200, { type: 'try_again', request_id: 'x', queue_state: 'active' })],
    ['complete_metadata', () => reply(200, { status: 'complete_metadata', response_payload_size: 9 })],
    ['an empty 400, of a proxy', () => new Response(null, { status: 400 })],
  ])('%s', async (_, answer) => {
    const engine = await site.client();
    first('retrieve_future', 2, answer);
    const client = await engine.train(engine.base);
    expect(paths().filter((path) => path === 'retrieve_future')).toHaveLength(3);
    await client.close();
  });

  it('tells once why the server makes it wait', async () => {
    const told: string[] = [];
    const engine = await site.client({ warn: (text) => told.push(text) });
    const body = { type: 'try_again', request_id: 'x', queue_state: 'paused_capacity', queue_state_reason: 'full' };
    first('retrieve_future', 3, () => reply(200, body));
    await engine.train(engine.base);
    expect(told).toEqual(['the server makes requests wait (paused_capacity: full)']);
  });

  it('a failed operation is an error with its reason', async () => {
    const engine = await site.client();
    first('retrieve_future', 1, () => reply(200, { error: 'rank 32 is too much', category: 'user' }));
    await expect(engine.train(engine.base)).rejects.toThrow(/create_model failed on the server: rank 32 is too much/);
    first('retrieve_future', 1, () => reply(200, { error: 'out of memory', category: 'server' }));
    await expect(engine.train(engine.base)).rejects.toBeInstanceOf(InfraError);
  });
});

describe('submitting', () => {
  it('429 with the same number, and the server sees one request', async () => {
    const engine = await site.client();
    const client = await engine.train(engine.base);
    first('optim_step', 2, () => reply(429, { detail: 'full' }));
    site.hook = ((hook) => (call, real) => {
      const answer = hook(call, real);
      if (answer instanceof Response) answer.headers.set('retry-after', '0');
      return answer;
    })(site.hook);
    await client.forwardBackward(lesson, 'cross_entropy');
    await client.optimStep(ADAM);
    const steps = site.calls.filter((call) => call.path === 'optim_step');
    expect(steps.map((call) => call.body.seq_id)).toEqual([2, 2, 2]);
    expect(await scoreOf(client)).toEqual(await afterOne());
  });

  it('an answer that was lost on the way is asked for again: the step is applied once', async () => {
    const engine = await site.client();
    const client = await engine.train(engine.base);
    let lost = 1;
    site.hook = async (call, real) => {
      if (call.path !== 'optim_step' || lost-- === 0) return real();
      await real();
      return reply(502, {});
    };
    await client.forwardBackward(lesson, 'cross_entropy');
    await client.optimStep(ADAM);
    expect(site.calls.filter((call) => call.path === 'optim_step')).toHaveLength(2);
    expect(await scoreOf(client)).toEqual(await afterOne());
  });

  it('an answer that was lost, where repeats are conflicts: the step is made once, from the state before', async () => {
    process.env.TINKER_API_KEY = 'tml-test';
    const strict = await openSite(MANNERS.tuft);
    try {
      const client = await (await strict.client({ profile: 'tuft' })).train({ policy: 'tiny', optimizer: null });
      let lost = 1;
      strict.hook = async (call, real) => {
        if (call.path !== 'optim_step' || lost-- !== 1) return real();
        await real();
        return reply(502, {});
      };
      await client.update!(lesson, 'cross_entropy', ADAM);
      const steps = strict.calls.filter((call) => call.path === 'optim_step');
      // Taken, refused as a conflict, and made again on another model.
      expect(steps.map((call) => call.body.seq_id)).toEqual([2, 2, 2]);
      expect(new Set(steps.map((call) => call.body.model_id)).size).toBe(2);
      expect(await scoreOf(client)).toEqual(await afterOne());
    } finally {
      delete process.env.TINKER_API_KEY;
      await strict.close();
    }
  });

  it('is not repeated where the server would take it twice', async () => {
    const engine = await site.client({ profile: 'generic-json' });
    const client = await engine.train(engine.base);
    first('optim_step', 1, () => reply(502, {}));
    await client.forwardBackward(lesson, 'cross_entropy');
    await expect(client.optimStep(ADAM)).rejects.toThrow(/may have it twice/);
    // What is accumulated there is unknown: the model is not used any more.
    await expect(client.forward(lesson, 'cross_entropy')).rejects.toThrow(InfraError);
  });

  it('gradients in parts and the step are on their way before any result is asked for', async () => {
    const engine = await site.client();
    const client = await engine.train(engine.base);
    let stepped = (): void => {};
    const step = new Promise<void>((resolve) => {
      stepped = resolve;
    });
    // Results are held back until the step is there: whoever waits for the gradients first waits for ever.
    site.hook = async (call, real) => {
      if (call.path === 'optim_step') stepped();
      if (call.path === 'retrieve_future') await step;
      return real();
    };
    site.calls.length = 0;
    await client.update!([...lesson, ...lesson, ...lesson], 'cross_entropy', ADAM);
    const sent = site.calls.filter((call) => call.path !== 'retrieve_future');
    expect(sent.map((call) => [call.path, call.body.seq_id])).toEqual([
      ['forward_backward', 1],
      ['optim_step', 2],
    ]);
  });

  it('parts by the caps of the server', async () => {
    site.hook = (call) => (call.path === 'client/config' ? reply(200, { fwdbwd_max_chunk_len: 2 }) : null);
    const engine = await site.client();
    const client = await engine.train(engine.base);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const batch = names.map((name) => ({ ...lesson[0]!, tokens: tokensOf(name, 9) }));
    const { logprobs, loss } = await client.forwardBackward(batch, 'cross_entropy');
    expect(paths().filter((path) => path === 'forward_backward')).toHaveLength(3);
    const { engine: local } = site.world;
    const whole = await (await local.train(local.base)).forwardBackward(batch, 'cross_entropy', { everywhere: true });
    expect(logprobs.flat().map((x) => x.toFixed(4))).toEqual(whole.logprobs.flat().map((x) => x.toFixed(4)));
    expect(loss).toBeCloseTo(whole.loss, 3);
  });
});

describe('a server that is started anew', () => {
  const trainOne = async (client: TrainingClient): Promise<StateRef> => {
    await client.update!(lesson, 'cross_entropy', ADAM);
    return client.save();
  };

  it('in the middle of a step: the step is made once, from the state before', async () => {
    const engine = await site.client();
    const client = await engine.train(engine.base);
    const state = await trainOne(client);
    await site.restart();
    const next = await trainOne(client);
    const other = await site.world.engine.train(site.world.engine.base);
    for (const _ of [1, 2]) {
      await other.forwardBackward(lesson, 'cross_entropy');
      await other.optimStep(ADAM);
    }
    const resumed = await engine.train(next);
    expect(await scoreOf(resumed)).toEqual(await scoreOf(other));
    expect(await scoreOf(await engine.train(state))).toEqual(await afterOne());
  });

  it('between two samples: saved policies are sampled as before', async () => {
    const engine = await site.client();
    const { policy } = await trainOne(await engine.train(engine.base));
    const asked = [request('k', tokensOf('prompt', 9))];
    const sample = async () => (await engine.policy(policy)).open(1).sample(asked, [0]);
    const before = await sample();
    await site.restart();
    expect(await sample()).toEqual(before);
    // 410: the result went with the old server, the same request is sent again.
    first('retrieve_future', 1, () => reply(410, { detail: 'restarted' }));
    expect(await sample()).toEqual(before);
  });
});

describe('a checkpoint that the server has lost', () => {
  const lose = async ({ policy }: StateRef): Promise<void> => {
    for (const path of policy.split('#')) {
      const [, run, rest] = /^tinker:\/\/([^/]+)\/(.+)$/.exec(path)!;
      const url = `${site.url}/api/v1/training_runs/${encodeURIComponent(run!)}/checkpoints/${rest}`;
      expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
    }
  };
  const lost = async (): Promise<{ engine: Engine; state: StateRef; client: TrainingClient }> => {
    const engine = await site.client();
    const client = await engine.train(engine.base);
    await client.update!(lesson, 'cross_entropy', ADAM);
    const state = await client.save();
    await lose(state);
    return { engine, state, client };
  };
  const sample = async (engine: Engine, policy: string) =>
    (await engine.policy(policy)).open(1).sample([request('k', tokensOf('prompt', 9))], [0]);
  const advice =
    /^the server at http:\/\/127\.0\.0\.1:\d+\/ no longer has the checkpoint tinker:\/\/\S+( \(.+\))?: it was started without .+ Start it with that folder again .+, or begin anew in another --run folder$/;

  it('is named where training goes on from it and where it is sampled, and nothing else is advised', async () => {
    const { engine, state, client } = await lost();
    const other = await site.client();
    for (const attempt of [
      () => engine.train(state),
      () => client.load(state),
      () => other.train({ policy: state.policy, optimizer: null }),
      () => sample(other, state.policy),
    ]) {
      const failure = (await attempt().catch((error: unknown) => error)) as Error;
      expect(failure).toBeInstanceOf(InfraError);
      expect(failure.message).toMatch(advice);
      expect(failure.message).not.toContain('from the last step');
    }
  });

  it('with the server started anew in between', async () => {
    const { engine, state, client } = await lost();
    await site.restart();
    await expect(client.update!(lesson, 'cross_entropy', ADAM)).rejects.toThrow(advice);
    await expect(sample(engine, state.policy)).rejects.toThrow(advice);
  });

  it.each([
    ['only when it samples', 'asample', 404, { detail: 'Checkpoint not found: a/s1' }],
    ['with 410', 'create_sampling_session', 410, { detail: 'expired' }],
    ['with 400', 'create_sampling_session', 400, { detail: 'model_path does not exist' }],
  ])('is told %s', async (_, path, status, body) => {
    const engine = await site.client();
    site.hook = (call) => {
      if (call.path === path) return reply(status, body);
      return call.path === 'create_sampling_session' ? reply(200, { sampling_session_id: 'x' }) : null;
    };
    const policy = 'tinker://a/sampler_weights/s1#tinker://a/weights/s1';
    await expect(sample(engine, policy)).rejects.toThrow(advice);
  });

  it('is told as the failure of the operation', async () => {
    const engine = await site.client();
    const loads: string[] = [];
    site.hook = async (call, real) => {
      if (call.path === 'load_weights') {
        loads.push('load');
        return reply(200, { request_id: 'load' });
      }
      if (call.body.request_id === 'load')
        return reply(200, { error: "[Errno 2] No such file or directory: '/ckpt/s1'", category: 'server' });
      return real();
    };
    const state = { policy: 'tinker://a/sampler_weights/s1#tinker://a/weights/s1', optimizer: 'tinker://a/weights/s1' };
    await expect(engine.train(state)).rejects.toThrow(advice);
    expect(loads).toHaveLength(1);
  });

  it('is no matter of a proxy that finds nothing, nor of the base model', async () => {
    const engine = await site.client();
    site.hook = (call) => (call.path === 'load_weights' ? reply(502, { detail: 'upstream not found' }) : null);
    const state = { policy: 'tinker://a/sampler_weights/s1#tinker://a/weights/s1', optimizer: null };
    await expect(engine.train(state)).rejects.toThrow(
      /answered 502 \(upstream not found\); run the same command again/,
    );
    site.hook = (call) => (call.path === 'asample' ? reply(404, { detail: 'no sampling session' }) : null);
    await expect(sample(await site.client(), 'tiny')).rejects.toThrow(/404 \(no sampling session\); run the same/);
  });
});

describe('a server that fails', () => {
  it('stuck: one error that names the operation, and no hang', async () => {
    const engine = await site.client({ times: { ...TIMES, operationMs: 400, pollMs: 100 } });
    site.hook = (call) => (call.path === 'retrieve_future' ? reply(408, {}) : null);
    const failure = await engine.train(engine.base).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InfraError);
    expect(String(failure)).toMatch(/has not ended create_model in the time it has.*run the same command again/);
    site.hook = (call) => (call.path === 'retrieve_future' ? new Promise<Response>(() => {}) : null);
    await expect(engine.train(engine.base)).rejects.toThrow(/is it stuck/);
  });

  it('gone: an error after the patience, and the next request does not wait as long', async () => {
    const gone = await openSite();
    const engine = await gone.client();
    await gone.close();
    const policy = await engine.policy('tiny');
    await expect(policy.open(1).sample([request('k', [1, 2])], [0])).rejects.toThrow(InfraError);
  });

  it.each([
    ['no log-probabilities', { tokens: [1], logprobs: null, stop_reason: 'stop' }, /no log-probabilities for 1 tokens/],
    ['too few', { tokens: [1, 2], logprobs: [-1], stop_reason: 'stop' }, /1 log-probabilities for 2 tokens/],
    [
      'too many tokens',
      { tokens: Array(13).fill(1), logprobs: Array(13).fill(-1), stop_reason: 'length' },
      /at most 12/,
    ],
    ['tokens after a stop', { tokens: [0, 1], logprobs: [-1, -1], stop_reason: 'stop' }, /after the stop token 0/],
  ])('samples with %s are refused', async (_, sequence, expected) => {
    const engine = await site.client();
    const base = await engine.policy('tiny');
    let asked = '';
    site.hook = async (call, real) => {
      if (call.path === 'asample') {
        const answer = await real();
        asked = ((await answer.clone().json()) as { request_id: string }).request_id;
        return answer;
      }
      return call.body.request_id === asked && asked !== '' ? reply(200, { sequences: [sequence] }) : null;
    };
    await expect(base.open(1).sample([request('k', [1, 2])], [0])).rejects.toThrow(expected);
  });

  it('zeros for log-probabilities are none', async () => {
    const engine = await site.client();
    const base = await engine.policy('tiny');
    const zeros = { tokens: Array(12).fill(1), logprobs: Array(12).fill(0), stop_reason: 'length' };
    const asked = [0, 1, 2].map((i) => request(`k${i}`, [1, 2]));
    const answers = () => reply(200, { sequences: [zeros] });
    site.hook = (call) => (call.path === 'retrieve_future' ? answers() : null);
    await expect(base.open(3).sample(asked, [0, 1, 2])).rejects.toThrow(/0 for every log-probability/);
  });
});

describe('opening', () => {
  it('tells what is wrong', async () => {
    await expect(site.client({ base: 'other' })).rejects.toThrow(/serves no base model "other"; it serves tiny/);
    await expect(site.client({ profile: 'tuft' })).rejects.toThrow(/TINKER_API_KEY/);
    site.hook = (call) => (call.path === 'client/config' ? reply(401, { detail: 'missing' }) : null);
    await expect(site.client()).rejects.toThrow(/401 \(missing\); put its key into .* TINKER_API_KEY/);
    site.hook = (call) => (call.path === 'get_server_capabilities' ? reply(200, {}) : null);
    await expect(site.client()).rejects.toThrow(/does not say how many tokens/);
    expect((await site.client({ contextLength: 77 })).contextLength).toBe(77);
    site.hook = () => null;
    const engine = await site.client();
    await expect(engine.policy('nonsense')).rejects.toThrow(UserError);
  });

  it('finds the profile', async () => {
    const titled = (title: string) => {
      site.hook = (call) => (call.path === '/openapi.json' ? reply(200, { info: { title } }) : null);
      return site.client();
    };
    expect((await titled('anything')).profile).toBe('official');
    expect((await titled('Tinker API Mock')).profile).toBe('skyrl-jax');
    expect((await titled('Tinker API Mock')).fingerprint).toBe('tinker/tiny/skyrl-jax/rank=32/seed=0');
  });

  it('refuses a profile that the server is none of', async () => {
    await expect(site.client({ profile: 'skyrl-jax' })).rejects.toThrow(
      /#skyrl-jax: the server calls itself "crossfold" and is none of profile skyrl-jax; leave it out, or name one that fits: official, tuft, skyrl-train, generic-json/,
    );
    const titled = (title: string, profile: ProfileName) => {
      site.hook = (call) => (call.path === '/openapi.json' ? reply(200, { info: { title } }) : null);
      return site.client({ profile });
    };
    await expect(titled('TuFT', 'official')).rejects.toThrow(/calls itself "TuFT".*fits: tuft, generic-json/);
    await expect(titled('Tinker API Mock', 'tuft')).rejects.toThrow(/fits: skyrl-jax, skyrl-train, generic-json/);
    expect((await titled('Tinker API Mock', 'skyrl-train')).profile).toBe('skyrl-train');
    expect((await titled('Somebody', 'skyrl-jax')).profile).toBe('skyrl-jax');
    site.hook = (call) => (call.path === '/openapi.json' ? new Response('<html>', { status: 500 }) : null);
    expect((await site.client({ profile: 'generic-json' })).profile).toBe('generic-json');
  });

  it('reads its address', () => {
    expect(readTarget('http://a:1/#skyrl-train,rank=8,context=512,deadline=60')).toEqual({
      url: 'http://a:1',
      profile: 'skyrl-train',
      rank: 8,
      contextLength: 512,
      deadlineMs: 60_000,
    });
    expect(() => readTarget('http://a#rank=-1')).toThrow(/"rank=-1" is unknown; expected a profile \(official, tuft/);
    expect(() => readTarget('http://a#skyrl_jx')).toThrow(
      /#skyrl_jx: "skyrl_jx" is unknown \(did you mean skyrl-jax\?\); expected a profile \(official, tuft, skyrl-jax, skyrl-train, generic-json\), rank=N/,
    );
    expect(() => readTarget('http://user:pass@a')).toThrow(/must not hold a password/);
  });
});
