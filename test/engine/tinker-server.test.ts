/** The protocol: futures, order of requests, limits, sessions, keys, bodies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/engine.ts';
import { ADAM_PARAMS, lesson, text, tinyWorld, type World } from './tinker-server-fixture.ts';

/** While closed, optimizer steps of every model wait. */
const gate = { open: Promise.resolve(), close: () => () => {} };
gate.close = () => {
  let release = (): void => {};
  gate.open = new Promise((resolve) => {
    release = resolve;
  });
  return release;
};
const gated = (engine: Engine): Engine => ({
  ...engine,
  async train(state) {
    const client = await engine.train(state);
    const optimStep: typeof client.optimStep = async (settings) => {
      await gate.open;
      return client.optimStep(settings);
    };
    return new Proxy(client, {
      get(target, name) {
        if (name === 'optimStep') return optimStep;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  },
});

let world: World;
beforeAll(async () => {
  world = await tinyWorld(gated);
});
afterAll(() => world.close());

const step = (model_id: string, seq_id?: number, rate = 1e-3) => ({
  model_id,
  seq_id,
  adam_params: { ...ADAM_PARAMS, learning_rate: rate },
});

describe('futures', () => {
  it.each([
    [{ pending: 'timeout' as const, accepted: 200 as const }, 200, 408],
    [{ pending: 'try_again' as const, accepted: 202 as const }, 202, 200],
  ])('a pending request: %j', async (settings, accepted, pending) => {
    const speaker = await world.open({ ...settings, holdMs: 5 });
    const { model } = await speaker.model();
    const release = gate.close();
    const sent = await speaker.post('optim_step', step(model, 1));
    expect(sent.status).toBe(accepted);
    const id = sent.body.request_id;
    expect(await speaker.retrieve(id)).toEqual({
      status: pending,
      body: { type: 'try_again', request_id: id, queue_state: 'active' },
    });
    release();
    await speaker.server.close();
    const { status, body } = await speaker.retrieve(id);
    expect(status).toBe(200);
    expect(Object.keys(body.metrics)).toEqual(['grad_norm:mean']);
    // A result can be fetched again.
    expect((await speaker.retrieve(id)).body).toEqual(body);
  });

  it('410 after a restart, 404 for what never was, 410 when fetched too late', async () => {
    let now = 0;
    const speaker = await world.open({ resultMs: 1000, sessionTimeoutMs: 0 }, { now: () => now });
    const { model } = await speaker.model();
    const { request_id } = (await speaker.post('optim_step', step(model, 1))).body;
    expect((await speaker.retrieve(request_id)).status).toBe(200);
    const restarted = await world.open();
    expect(await restarted.retrieve(request_id)).toMatchObject({
      status: 410,
      body: { detail: expect.stringContaining('restarted') },
    });
    expect((await speaker.retrieve(`${request_id}9`)).status).toBe(404);
    expect((await speaker.retrieve('nonsense')).status).toBe(404);
    now = 1001;
    await speaker.server.sweep();
    expect((await speaker.retrieve(request_id)).status).toBe(410);
    expect((await restarted.post('optim_step', step(model, 2))).status).toBe(404);
  });

  it('announces the size of a big result to whoever can wait for it', async () => {
    const speaker = await world.open({ inlineBytes: 10 });
    const { model } = await speaker.model();
    const sent = await speaker.post('forward_backward', {
      model_id: model,
      seq_id: 1,
      forward_backward_input: lesson([1, 2, 3]),
    });
    const headers = { accept: 'application/x-protobuf' };
    const asked = { request_id: sent.body.request_id, allow_metadata_only: true };
    const { body } = await speaker.post('retrieve_future', asked, headers);
    expect(body).toEqual({ status: 'complete_metadata', response_payload_size: expect.any(Number) });
  });
});

describe('order of requests', () => {
  it('dedup: a repeat is the same request, another payload a conflict', async () => {
    const speaker = await world.open({ sequence: 'dedup' });
    const { model } = await speaker.model();
    const first = await speaker.post('optim_step', step(model, 1));
    expect(await speaker.post('optim_step', step(model, 1))).toEqual(first);
    expect((await speaker.post('optim_step', step(model, 1, 0.5))).status).toBe(409);
    expect((await speaker.post('optim_step', step(model, 3))).status).toBe(200);
    await speaker.server.close();
  });

  it('a repeated optimizer step is applied once', async () => {
    const speaker = await world.open();
    const { model } = await speaker.model();
    const input = { model_id: model, forward_backward_input: lesson([3, 4, 5, 6]) };
    const loss = async (seq_id: number) =>
      (await speaker.done('forward', { model_id: model, seq_id, forward_input: lesson([3, 4, 5, 6]) })).metrics[
        'loss:sum'
      ];
    await speaker.done('forward_backward', { ...input, seq_id: 1 });
    await speaker.done('optim_step', step(model, 2));
    const once = await loss(3);
    await speaker.done('optim_step', step(model, 2));
    expect(await loss(4)).toBe(once);
  });

  it('strict: seq_id is the next one or a conflict, and a refused request does not count', async () => {
    const speaker = await world.open({ sequence: 'strict' });
    const { model } = await speaker.model();
    expect((await speaker.post('optim_step', step(model, 2))).status).toBe(409);
    expect((await speaker.post('optim_step', step(model))).status).toBe(409);
    const bad = { ...lesson([1, 2]), loss_fn: 'mystery' };
    const refused = await speaker.post('forward_backward', { model_id: model, seq_id: 1, forward_backward_input: bad });
    expect(refused.status).toBe(400);
    expect((await speaker.post('optim_step', step(model, 1))).status).toBe(200);
    expect((await speaker.post('optim_step', step(model, 1))).status).toBe(409);
    expect((await speaker.post('optim_step', step(model, 2))).status).toBe(200);
    await speaker.server.close();
  });

  it('load_weights is the first request, unless the manners are others', async () => {
    for (const [loadAnyTime, expected] of [
      [false, 400],
      [true, 200],
    ] as const) {
      const speaker = await world.open({ loadAnyTime });
      const { model } = await speaker.model();
      const { path } = await speaker.done('save_weights', { model_id: model, seq_id: 1, path: 'a' });
      expect(path).toBe(`tinker://${model}/weights/a`);
      const load = { model_id: model, seq_id: 2, path, optimizer: true };
      expect((await speaker.post('load_weights', load)).status).toBe(expected);
      const { model: second } = await speaker.model();
      expect(await speaker.done('load_weights', { ...load, model_id: second, seq_id: 1 })).toEqual({
        path,
        model_id: second,
        type: 'load_weights',
      });
      await speaker.server.close();
    }
  });
});

describe('limits', () => {
  it('429 above the number of requests under way, and room again afterwards', async () => {
    const speaker = await world.open({ maxPending: 2 });
    const { model } = await speaker.model();
    const release = gate.close();
    for (const seq of [1, 2]) expect((await speaker.post('optim_step', step(model, seq))).status).toBe(200);
    expect(await speaker.post('optim_step', step(model, 3))).toMatchObject({
      status: 429,
      body: { detail: expect.stringContaining('2 requests are under way') },
    });
    release();
    await speaker.done('optim_step', step(model, 2));
    expect((await speaker.post('optim_step', step(model, 3))).status).toBe(200);
    await speaker.server.close();
  });

  it('bodies: kind, length, shape', async () => {
    const speaker = await world.open({ maxBodyBytes: 200 });
    expect((await speaker.post('create_session', { tags: ['x'.repeat(300)] })).status).toBe(413);
    expect((await speaker.post('create_session', {}, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await speaker.post('create_session', {}, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect(await speaker.post('session_heartbeat', {})).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('session_id') },
    });
    const proto = { 'content-type': 'application/x-protobuf' };
    expect((await speaker.post('forward_backward', Uint8Array.of(0xff, 0xff), proto)).status).toBe(422);
    expect((await speaker.get('nowhere')).status).toBe(404);
  });

  it('a key where one is set', async () => {
    const speaker = await world.open({}, { apiKey: 'tml-secret' });
    expect((await speaker.get('healthz')).status).toBe(200);
    expect((await speaker.post('create_session', {})).status).toBe(401);
    expect((await speaker.post('create_session', {}, { 'x-api-key': 'tml-other' })).status).toBe(403);
    expect((await speaker.post('create_session', {}, { 'x-api-key': 'tml-secret' })).status).toBe(200);
  });
});

describe('sessions', () => {
  it('end when they are silent, and their models and samplers with them', async () => {
    let now = 0;
    const speaker = await world.open({ sessionTimeoutMs: 1000 }, { now: () => now });
    const { session, model } = await speaker.model();
    const saved = { model_id: model, seq_id: 1, sampling_session_seq_id: 0 };
    const { sampling_session_id: sampler } = await speaker.done('save_weights_for_sampler', saved);
    now = 900;
    expect((await speaker.post('session_heartbeat', { session_id: session })).status).toBe(200);
    now = 1800;
    await speaker.server.sweep();
    expect((await speaker.post('get_info', { model_id: model })).status).toBe(200);
    now = 2900;
    await speaker.server.sweep();
    expect((await speaker.post('session_heartbeat', { session_id: session })).status).toBe(404);
    expect((await speaker.post('get_info', { model_id: model })).status).toBe(404);
    expect((await speaker.get(`samplers/${sampler}`)).status).toBe(404);
  });

  it('make nothing twice', async () => {
    const speaker = await world.open();
    const { session, model } = await speaker.model();
    const again = { session_id: session, model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 4 } };
    expect(await speaker.done('create_model', again)).toEqual({ model_id: model, type: 'create_model' });
    expect((await speaker.post('create_model', { ...again, lora_config: { rank: 5 } })).status).toBe(409);
    const sampler = { session_id: session, sampling_session_seq_id: 3, base_model: 'tiny' };
    const first = await speaker.post('create_sampling_session', sampler);
    expect(await speaker.post('create_sampling_session', sampler)).toEqual(first);
    const sample = {
      sampling_session_id: first.body.sampling_session_id,
      seq_id: 0,
      prompt: text([1]),
      sampling_params: { max_tokens: 2 },
    };
    const one = await speaker.post('asample', sample);
    expect(await speaker.post('asample', sample)).toEqual(one);
    expect(one.body.sample_sequence_ids).toHaveLength(1);
    expect((await speaker.post('asample', { ...sample, num_samples: 2 })).status).toBe(409);
    await speaker.server.close();
  });

  it('refuse what this server is not', async () => {
    const speaker = await world.open();
    const { session } = await speaker.model();
    const asked = { session_id: session, model_seq_id: 1, base_model: 'tiny' };
    expect((await speaker.post('create_model', { ...asked, base_model: 'big' })).status).toBe(400);
    const part = { rank: 4, train_mlp: false };
    expect((await speaker.post('create_model', { ...asked, lora_config: part })).status).toBe(400);
    expect((await speaker.post('create_model', { ...asked, optimizer_config: { type: 'dimuon' } })).status).toBe(400);
  });

  it('a closing server answers what is under way and takes nothing new', async () => {
    const speaker = await world.open();
    const { model } = await speaker.model();
    const release = gate.close();
    const { request_id } = (await speaker.post('optim_step', step(model, 1))).body;
    const closed = speaker.server.close();
    expect((await speaker.post('optim_step', step(model, 2))).status).toBe(503);
    release();
    await closed;
    expect((await speaker.retrieve(request_id)).body).toHaveProperty('metrics');
  });
});
