/** What the server computes: losses, both encodings, checkpoints, sampling. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeLossResult, encodeLossRequest } from '../../src/engine/tinker/wire/loss-codec.ts';
import { forwardBackwardSchema, type LossResult, type SampleResult } from '../../src/engine/tinker/wire/messages.ts';
import { decodeSampleResult } from '../../src/engine/tinker/wire/sample-codec.ts';
import { furthest } from './fixture.ts';
import {
  ADAM_PARAMS,
  floats,
  ints,
  lesson,
  type Speaker,
  text,
  tinyWorld,
  type World,
} from './tinker-server-fixture.ts';

let world: World;
let speaker: Speaker;
beforeAll(async () => {
  world = await tinyWorld();
  speaker = await world.open();
});
afterAll(() => world.close());

const PROMPT = [4, 8, 15];
const PROTO = { accept: 'application/x-protobuf', 'content-type': 'application/json' };

/** A batch for a policy gradient: `old` and `advantages` per token. */
const rewarded = (loss_fn: string, old: readonly number[], advantages: readonly number[], loss_fn_config = {}) => ({
  data: [
    {
      model_input: text([4, 8, 15]),
      loss_fn_inputs: { target_tokens: ints([8, 15, 16]), logprobs: floats(old), advantages: floats(advantages) },
    },
  ],
  loss_fn,
  loss_fn_config,
});

const logprobsOf = (result: LossResult): readonly number[] => result.loss_fn_outputs[0]!.logprobs!.data;

async function sampled(more: object, via: Speaker = speaker): Promise<SampleResult> {
  const asked = { prompt: text(PROMPT), sampling_params: { max_tokens: 8, seed: 5, stop: [] }, base_model: 'tiny' };
  return via.done('asample', { ...asked, ...more });
}

describe('losses', () => {
  it('are sums over tokens with the ratio bounds that were sent', async () => {
    const { model } = await speaker.model();
    const forward = async (input: object): Promise<LossResult> =>
      speaker.done('forward', { model_id: model, forward_input: input });
    const logp = logprobsOf(await forward(lesson([4, 8, 15, 16])));
    const value = async (input: object): Promise<number> => (await forward(input)).metrics['loss:sum']!;
    const sum = (f: (logp: number, t: number) => number): number => logp.reduce((s, x, t) => s + f(x, t), 0);
    expect(await value(lesson([4, 8, 15, 16]))).toBeCloseTo(-sum((x) => x), 4);
    // Old log-probabilities that make the ratios 2, 0.5 and 1.
    const old = [logp[0]! - Math.log(2), logp[1]! + Math.log(2), logp[2]!];
    expect(await value(rewarded('importance_sampling', old, [1, 1, -3]))).toBeCloseTo(-(2 + 0.5 - 3), 4);
    expect(await value(rewarded('ppo', old, [1, 1, -3]))).toBeCloseTo(-(1.2 + 0.5 - 3), 4);
    const wide = { clip_low_threshold: 0.1, clip_high_threshold: 1.5 };
    expect(await value(rewarded('ppo', old, [1, 1, -3], wide))).toBeCloseTo(-(1.5 + 0.5 - 3), 4);
    expect(await value(rewarded('cispo', old, [1, 1, 0]))).toBeCloseTo(-(2 * logp[0]! + 0.5 * logp[1]!), 4);
    const narrow = { clip_low_threshold: 0.8, clip_high_threshold: 1.1 };
    expect(await value(rewarded('cispo', old, [1, 1, 0], narrow))).toBeCloseTo(-(1.1 * logp[0]! + 0.8 * logp[1]!), 4);
  });

  it('score targets of one’s own and tokens of weight 0', async () => {
    const { model } = await speaker.model();
    const input = (targets: readonly number[], weights: readonly number[]) => ({
      data: [
        { model_input: text([4, 8, 15]), loss_fn_inputs: { target_tokens: ints(targets), weights: floats(weights) } },
      ],
      loss_fn: 'cross_entropy',
    });
    const ask = async (targets: readonly number[], weights: readonly number[]): Promise<LossResult> =>
      speaker.done('forward_backward', { model_id: model, forward_backward_input: input(targets, weights) });
    const other = logprobsOf(await ask([3, 15, 16], [0, 0, 0]));
    const usual = logprobsOf(await ask([8, 15, 16], [0, 0, 0]));
    expect(furthest(other.slice(1), usual.slice(1))).toBeLessThan(1e-5);
    expect(Math.abs(other[0]! - usual[0]!)).toBeGreaterThan(0.01);
    expect(Math.exp(other[0]!) + Math.exp(usual[0]!)).toBeLessThan(1);
    expect(usual.every((x) => x < 0)).toBe(true);
  });

  it('fall under training, and a forward pass leaves no gradient', async () => {
    const { model } = await speaker.model();
    const losses: number[] = [];
    for (let i = 0; i < 12; i++) {
      await speaker.done('forward', { model_id: model, forward_input: lesson([9, 9, 9, 9]) });
      const out = await speaker.done('forward_backward', {
        model_id: model,
        forward_backward_input: lesson([4, 8, 15, 16]),
      });
      losses.push(out.metrics['loss:sum']);
      await speaker.done('optim_step', { model_id: model, adam_params: ADAM_PARAMS });
    }
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
    const { model: still } = await speaker.model();
    await speaker.done('forward', { model_id: still, forward_input: lesson([4, 8, 15, 16]) });
    const { metrics } = await speaker.done('optim_step', { model_id: still, adam_params: ADAM_PARAMS });
    expect(metrics['grad_norm:mean']).toBe(0);
  });

  it.each([
    ['an unknown loss', { ...lesson([1, 2]), loss_fn: 'dro' }, /loss_fn is "dro"/],
    ['no datum', { ...lesson([1, 2]), data: [] }, /data is empty/],
    ['a token that is none', lesson([1, 99]), /token 99/],
    ['too many tokens', lesson(Array.from({ length: 194 }, () => 1)), /193 tokens/],
    ['a setting of another loss', { ...lesson([1, 2]), loss_fn_config: { beta: 1 } }, /loss_fn_config.beta/],
    ['a missing input', { ...lesson([1, 2]), loss_fn: 'ppo' }, /input "weights" is none of/],
    ['bounds the wrong way round', rewarded('ppo', [0, 0, 0], [0, 0, 0], { clip_low_threshold: 2 }), /is above/],
    ['a wrong length', rewarded('ppo', [0, 0], [0, 0, 0]), /logprobs has 2 values; expected 3/],
    [
      'a picture',
      { ...lesson([1, 2]), data: [{ model_input: { chunks: [{ type: 'image' }] }, loss_fn_inputs: {} }] },
      /chunk of type image/,
    ],
  ])('%s is refused in one line', async (_, input, detail) => {
    const { model } = await speaker.model();
    const reply = await speaker.post('forward_backward', { model_id: model, forward_backward_input: input });
    expect(reply.status).toBe(400);
    expect(reply.body.detail).toMatch(detail);
  });
});

describe('encodings', () => {
  it('JSON and protobuf train to the same weights and say the same', async () => {
    const results: LossResult[] = [];
    const weights: string[] = [];
    for (const proto of [false, true]) {
      const { session, model } = await speaker.model();
      const body = forwardBackwardSchema.parse({
        model_id: model,
        seq_id: 1,
        forward_backward_input: rewarded('ppo', [-1.1, -2.3, -0.7], [0.3, -0.2, 1.7], { clip_low_threshold: 0.7 }),
      });
      const input = body.forward_backward_input;
      const bytes = encodeLossRequest({ model_id: model, seq_id: 1, forward_only: false, input });
      const sent = proto
        ? await speaker.post('forward_backward', bytes, { 'content-type': 'application/x-protobuf' })
        : await speaker.post('forward_backward', body);
      // A repeat in the other encoding is the same request.
      expect((await speaker.post('forward_backward', body)).body).toEqual(sent.body);
      const asked = JSON.stringify({ request_id: sent.body.request_id });
      const init = { method: 'POST', body: asked, headers: PROTO };
      const answer = await speaker.server.fetch(new Request('http://127.0.0.1/api/v1/retrieve_future', init));
      const read = decodeLossResult(new Uint8Array(await answer.arrayBuffer()));
      expect((await speaker.retrieve(sent.body.request_id)).body).toEqual(read);
      results.push(read);
      await speaker.done('optim_step', { model_id: model, seq_id: 2, adam_params: ADAM_PARAMS });
      const save = { model_id: model, seq_id: 3, sampling_session_seq_id: 0 };
      const { sampling_session_id } = await speaker.done('save_weights_for_sampler', save);
      expect(sampling_session_id).toBe(`${session}:sample:0`);
      const sample = await sampled({ base_model: null, sampling_session_id, seq_id: 0 });
      weights.push(JSON.stringify(sample.sequences));
    }
    expect(results[0]).toEqual(results[1]);
    expect(weights[0]).toBe(weights[1]);
  });

  it('samples', async () => {
    const asked = {
      prompt: text(PROMPT),
      sampling_params: { max_tokens: 4, seed: 1 },
      base_model: 'tiny',
      prompt_logprobs: true,
    };
    const { request_id } = (await speaker.post('asample', asked)).body;
    const { body } = await speaker.retrieve(request_id);
    const init = { method: 'POST', body: JSON.stringify({ request_id }), headers: PROTO };
    const answer = await speaker.server.fetch(new Request('http://127.0.0.1/api/v1/retrieve_future', init));
    const read = decodeSampleResult(new Uint8Array(await answer.arrayBuffer()));
    expect(read.sequences).toEqual(body.sequences);
    expect(read.prompt_logprobs!.map((x) => x && Math.fround(x))).toEqual(
      body.prompt_logprobs.map((x: number | null) => x && Math.fround(x)),
    );
  });
});

describe('checkpoints', () => {
  it('survive a restart, continue exactly, are listed and deleted', async () => {
    const { model } = await speaker.model();
    const train = async (via: Speaker, id: string): Promise<number> => {
      const out = await via.done('forward_backward', { model_id: id, forward_backward_input: lesson([2, 7, 1, 8]) });
      await via.done('optim_step', { model_id: id, adam_params: ADAM_PARAMS });
      return out.metrics['loss:sum'];
    };
    await train(speaker, model);
    const { path } = await speaker.done('save_weights', { model_id: model, path: 'one', user_metadata: { step: '1' } });
    const { path: frozen } = await speaker.done('save_weights_for_sampler', { model_id: model, path: 'one' });
    expect((await speaker.post('save_weights', { model_id: model, path: 'one' })).status).toBe(409);
    expect((await speaker.post('save_weights', { model_id: model, path: '../one' })).status).toBe(422);
    const expected = [await train(speaker, model), await train(speaker, model)];

    const later = await world.open();
    const { session, model: second } = await later.model();
    await later.done('load_weights', { model_id: second, path, optimizer: true });
    expect([await train(later, second), await train(later, second)]).toEqual(expected);
    // Made by loading, with an id that the client can tell beforehand.
    const made = { session_id: session, model_seq_id: 7, path, optimizer: false };
    expect((await later.done('load_weights', made)).model_id).toBe(`${session}:train:7`);
    expect((await later.post('get_info', { model_id: `${session}:train:7` })).body).toMatchObject({
      is_lora: true,
      lora_rank: 4,
    });

    const direct = await sampled({ base_model: null, model_path: frozen }, later);
    const made2 = await later.post('create_sampling_session', {
      session_id: session,
      sampling_session_seq_id: 1,
      model_path: frozen,
    });
    const through = { base_model: null, sampling_session_id: made2.body.sampling_session_id, seq_id: 0 };
    expect(await sampled(through, later)).toEqual(direct);
    expect((await later.get(`samplers/${made2.body.sampling_session_id}`)).body).toMatchObject({
      base_model: 'tiny',
      model_path: frozen,
    });
    expect((await later.post('weights_info', { tinker_path: path })).body).toMatchObject({
      base_model: 'tiny',
      lora_rank: 4,
    });

    const { checkpoints } = (await later.get(`training_runs/${model}/checkpoints`)).body;
    expect(checkpoints).toMatchObject([
      { checkpoint_id: 'weights/one', checkpoint_type: 'training', tinker_path: path, user_metadata: { step: '1' } },
      { checkpoint_id: 'sampler_weights/one', checkpoint_type: 'sampler', tinker_path: frozen },
    ]);
    expect(checkpoints[0].size_bytes).toBeGreaterThan(checkpoints[1].size_bytes);
    expect((await later.get(`training_runs/${model}/checkpoints/weights/one`, 'DELETE')).status).toBe(204);
    expect((await later.get(`training_runs/${model}/checkpoints/weights/one`, 'DELETE')).status).toBe(404);
    expect((await later.post('load_weights', { ...made, model_seq_id: 8 })).status).toBe(404);
    // Its weights are those of the other checkpoint too.
    expect(await sampled({ base_model: null, model_path: frozen }, later)).toEqual(direct);
  });

  it('expire', async () => {
    let now = 1000;
    const timed = await world.open({ sessionTimeoutMs: 0 }, { now: () => now });
    const { model } = await timed.model();
    const { path } = await timed.done('save_weights', { model_id: model, path: 'brief', ttl_seconds: 3600 });
    now += 3_599_000;
    await timed.server.sweep();
    expect((await timed.post('weights_info', { tinker_path: path })).status).toBe(200);
    now += 1000;
    await timed.server.sweep();
    expect((await timed.post('weights_info', { tinker_path: path })).status).toBe(404);
  });

  it('runs are listed page by page, newest first', async () => {
    const fresh = await world.open();
    const { model } = await fresh.model();
    const { training_runs, cursor } = (await fresh.get('training_runs?limit=1')).body;
    expect(training_runs).toHaveLength(1);
    expect(cursor).toEqual({ offset: 0, limit: 1, total_count: expect.any(Number) });
    expect((await fresh.get(`training_runs/${model}`)).body).toMatchObject({
      training_run_id: model,
      base_model: 'tiny',
    });
    expect((await fresh.get('training_runs?limit=x')).status).toBe(422);
    expect((await fresh.get('training_runs/none')).status).toBe(404);
  });

  it('an unloaded model is gone, its checkpoints are not', async () => {
    const { model } = await speaker.model();
    const { path } = await speaker.done('save_weights', { model_id: model, path: 'kept' });
    expect(await speaker.done('unload_model', { model_id: model })).toEqual({ model_id: model, type: 'unload_model' });
    expect((await speaker.post('get_info', { model_id: model })).status).toBe(404);
    expect((await speaker.post('weights_info', { tinker_path: path })).status).toBe(200);
  });

  it('four models do not leak into each other', async () => {
    const models = await Promise.all([0, 1, 2, 3].map(() => speaker.model()));
    const before = await speaker.done('forward', { model_id: models[3]!.model, forward_input: lesson([4, 8, 15]) });
    for (const [i, { model }] of models.slice(0, 3).entries()) {
      await speaker.done('forward_backward', { model_id: model, forward_backward_input: lesson([4, 8, 10 + i]) });
      await speaker.done('optim_step', { model_id: model, adam_params: ADAM_PARAMS });
    }
    expect(await speaker.done('forward', { model_id: models[3]!.model, forward_input: lesson([4, 8, 15]) })).toEqual(
      before,
    );
  });
});

describe('sampling', () => {
  it('does not depend on what is sampled at the same time', async () => {
    const asked = (seed: number, prompt: readonly number[]) => ({
      prompt: text(prompt),
      sampling_params: { max_tokens: 10, seed, stop: [] },
      num_samples: 3,
    });
    const alone = await sampled(asked(11, PROMPT));
    const crowd = [1, 2, 3, 4, 5, 6].map((seed) => sampled(asked(seed, [seed, 2, 3, 4])));
    const among = await sampled(asked(11, PROMPT));
    await Promise.all(crowd);
    expect(among.sequences.map((s) => s.tokens)).toEqual(alone.sequences.map((s) => s.tokens));
    expect(furthest(among.sequences[1]!.logprobs!, alone.sequences[1]!.logprobs!)).toBeLessThan(1e-4);
    expect(new Set(alone.sequences.map((s) => s.tokens.join())).size).toBe(3);
  });

  it('ends with the token that is a stop, or that completes a stop text', async () => {
    const free = (await sampled({})).sequences[0]!;
    expect([free.tokens.length, free.stop_reason]).toEqual([8, 'length']);
    const third = free.tokens.indexOf(free.tokens[2]!);
    const params = { max_tokens: 8, seed: 5 };
    const cut = { tokens: free.tokens.slice(0, third + 1), stop_reason: 'stop' };
    expect((await sampled({ sampling_params: { ...params, stop: [free.tokens[2]] } })).sequences[0]).toMatchObject(cut);
    const word = world.engine.tokenizer.decode([free.tokens[2]!]);
    for (const form of [word, [word]]) {
      const ended = (await sampled({ sampling_params: { ...params, stop: form } })).sequences[0]!;
      const natural = free.tokens.indexOf(0);
      expect(ended.tokens).toEqual(natural >= 0 && natural < third ? free.tokens.slice(0, natural + 1) : cut.tokens);
      expect(ended.stop_reason).toBe('stop');
    }
  });

  it('scores prompts', async () => {
    const whole = [...PROMPT, 16, 23];
    const { model } = await speaker.model();
    const reference = logprobsOf(await speaker.done('forward', { model_id: model, forward_input: lesson(whole) }));
    const { prompt_logprobs: all } = await sampled({ prompt: text(whole), prompt_logprobs: true });
    expect(all![0]).toBeNull();
    expect(furthest(all!.slice(1) as number[], reference)).toBeLessThan(1e-5);
    const last = await sampled({ prompt: text(whole), prompt_logprobs: true, prompt_logprobs_last_n: 2 });
    expect(last.prompt_logprobs).toEqual([null, null, null, all![3], all![4]]);
    expect((await sampled({})).prompt_logprobs).toBeNull();
  });

  it('old snapshots keep their weights while training goes on', async () => {
    const { model } = await speaker.model();
    const saved = await speaker.done('save_weights_for_sampler', { model_id: model, sampling_session_seq_id: 0 });
    const via = { base_model: null, sampling_session_id: saved.sampling_session_id };
    const before = await sampled({ ...via, seq_id: 0 });
    await speaker.done('forward_backward', { model_id: model, forward_backward_input: lesson([4, 8, 15, 16]) });
    await speaker.done('optim_step', { model_id: model, adam_params: ADAM_PARAMS });
    expect(await sampled({ ...via, seq_id: 1 })).toEqual(before);
    expect(await sampled({})).toEqual(before);
  });

  it('greedy at temperature 0, and top_k 1 is that too', async () => {
    const [greedy, first] = await Promise.all([
      sampled({ sampling_params: { max_tokens: 6, temperature: 0, stop: [] } }),
      sampled({ sampling_params: { max_tokens: 6, top_k: 1, seed: 9, stop: [] } }),
    ]);
    expect(first.sequences[0]!.tokens).toEqual(greedy.sequences[0]!.tokens);
  });

  it.each([
    [{ prompt: text([]) }, 400, /prompt has 0 tokens/],
    [{ prompt: text([77]) }, 400, /token 77/],
    [{ sampling_params: { max_tokens: 0 } }, 422, /max_tokens/],
    [{ sampling_params: { stop: [1, 'a'] } }, 422, /stop/],
    [{ topk_prompt_logprobs: 2 }, 400, /topk_prompt_logprobs is 2/],
    [{ base_model: null }, 400, /needs base_model or model_path/],
    [{ base_model: null, model_path: 'tinker://a/weights/b' }, 404, /no checkpoint/],
    [{ base_model: null, sampling_session_id: 'x' }, 400, /needs a seq_id/],
    [{ base_model: null, sampling_session_id: 'x', seq_id: 1 }, 404, /no sampling session/],
  ])('%j is answered with %d', async (more, status, detail) => {
    const asked = { prompt: text(PROMPT), sampling_params: { max_tokens: 2 }, base_model: 'tiny', ...more };
    const reply = await speaker.post('asample', asked);
    expect(reply.status).toBe(status);
    expect(reply.body.detail).toMatch(detail);
  });
});
