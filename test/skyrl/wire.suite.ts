/** The requests of a training loop as bare HTTP: what this server answers to each. */
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { encodeLossRequest } from '../../src/engine/tinker/wire/loss-codec.ts';
import type { LossResult, Tensor } from '../../src/engine/tinker/wire/messages.ts';
import { RANK } from './server.ts';
import { openWire, type Wire } from './wire.ts';

const skyrl = inject('skyrl');
const TOKENS = [5, 9, 14, 9, 5, 20, 31, 20];
const T = TOKENS.length - 1;
const ADAM = { learning_rate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0 };

const tensor = (data: readonly number[], dtype: Tensor['dtype'] = 'float32'): Tensor => ({
  data: [...data],
  dtype,
  shape: [data.length],
});
const ones = tensor(TOKENS.slice(1).map(() => 1));
const targets = tensor(TOKENS.slice(1), 'int64');
const datum = (inputs: Readonly<Record<string, Tensor>>) => ({
  model_input: { chunks: [{ type: 'encoded_text' as const, tokens: TOKENS.slice(0, -1) }] },
  loss_fn_inputs: { target_tokens: targets, ...inputs },
});
const scored = (result: LossResult): readonly number[] => result.loss_fn_outputs[0]!.logprobs!.data;

describe.skipIf('missing' in skyrl)('SkyRL on the wire', () => {
  let wire: Wire;
  let base: string;
  let session: unknown;
  let model: string;
  let trained: readonly number[];
  let saved: string;
  beforeAll(() => {
    if ('missing' in skyrl) return;
    wire = openWire(skyrl.url);
    base = skyrl.base;
  });

  const create = async (number: number, seed: number): Promise<string> => {
    const { model_id } = await wire.result<{ model_id: string }>('create_model', {
      session_id: session,
      model_seq_id: number,
      base_model: base,
      lora_config: { rank: RANK, seed, train_unembed: true, train_mlp: true, train_attn: true },
      type: 'create_model',
    });
    return model_id;
  };
  const forward = (id: string, seq: number, only: boolean, loss = 'cross_entropy', inputs = { weights: ones }) =>
    wire.loss(
      'forward_backward',
      encodeLossRequest({
        model_id: id,
        seq_id: seq,
        forward_only: only,
        input: { data: [datum(inputs)], loss_fn: loss },
      }),
    );
  const ask = (over: object) => ({
    prompt: { chunks: [{ type: 'encoded_text', tokens: TOKENS.slice(0, 3) }] },
    sampling_params: { max_tokens: 8, seed: 3, stop: [], temperature: 1, top_k: -1, top_p: 1 },
    num_samples: 2,
    prompt_logprobs: true,
    type: 'sample',
    ...over,
  });

  it('opens a session and a model', async () => {
    const { body } = await wire.post('create_session', { tags: [], sdk_version: '0.25.0', type: 'create_session' });
    session = body.session_id;
    model = await create(0, 1);
    expect(model).toMatch(/^model_/);
  });

  it('samples the base model, and says the same again to the same seed', async () => {
    const [first, second] = [
      await wire.sample(ask({ base_model: base })),
      await wire.sample(ask({ base_model: base })),
    ];
    expect(second).toEqual(first);
    expect(first.sequences.map(({ tokens, stop_reason }) => [tokens.length, stop_reason])).toEqual([
      [8, 'length'],
      [8, 'length'],
    ]);
    // One fewer than the prompt has tokens: the null of the first is left out.
    expect(first.prompt_logprobs).toHaveLength(2);
  });

  it('stops after a stop token, which it keeps', async () => {
    const { tokens } = (await wire.sample(ask({ base_model: base }))).sequences[0]!;
    const params = { max_tokens: 8, seed: 3, stop: [tokens[1]], temperature: 1, top_k: -1, top_p: 1 };
    const [cut] = (await wire.sample(ask({ base_model: base, sampling_params: params }))).sequences;
    expect(cut).toMatchObject({ tokens: tokens.slice(0, tokens.indexOf(tokens[1]!) + 1), stop_reason: 'stop' });
  });

  it('takes batches in protobuf alone', async () => {
    const input = { data: [datum({ weights: ones })], loss_fn: 'cross_entropy' };
    const reply = await wire.post('forward_backward', { model_id: model, seq_id: 1, forward_backward_input: input });
    expect(reply.status).toBe(415);
  });

  it('trains: a step along the gradient raises what had an advantage', async () => {
    const before = scored(await forward(model, 1, true));
    const inputs = { weights: ones, logprobs: tensor(before), advantages: ones };
    const out = await forward(model, 2, false, 'importance_sampling', inputs);
    // -ratio·A of each token, at ratio 1.
    expect(out.loss_fn_outputs[0]!.elementwise_loss!.data).toHaveLength(T);
    for (const x of out.loss_fn_outputs[0]!.elementwise_loss!.data) expect(x).toBeCloseTo(-1, 3);
    const step = { model_id: model, seq_id: 3, adam_params: ADAM, type: 'optim_step' };
    const { metrics } = await wire.result<{ metrics: Record<string, number> }>('optim_step', step);
    expect(metrics['skyrl.ai/grad_norm']).toBeGreaterThan(0);
    trained = scored(await forward(model, 4, true));
    expect(sum(trained)).toBeGreaterThan(sum(before));
  });

  it('has a number only once: the same request is the same future, another is a conflict', async () => {
    const step = { model_id: model, seq_id: 3, adam_params: ADAM, type: 'optim_step' };
    expect((await wire.post('optim_step', step)).status).toBe(200);
    const other = { ...step, adam_params: { ...ADAM, learning_rate: 0.02 } };
    expect((await wire.post('optim_step', other)).status).toBe(409);
    expect(scored(await forward(model, 5, true))).toEqual(trained);
  });

  it('saves weights that another model loads', async () => {
    const body = { model_id: model, path: 'a', seq_id: 6, type: 'save_weights' };
    ({ path: saved } = await wire.result<{ path: string }>('save_weights', body));
    expect(saved).toBe(`tinker://${model}/weights/a`);
    expect((await wire.post('save_weights', { ...body, seq_id: 7 })).status).toBe(409);
    const second = await create(1, 2);
    await wire.result('load_weights', {
      model_id: second,
      seq_id: 1,
      path: saved,
      optimizer: true,
      type: 'load_weights',
    });
    expect(scored(await forward(second, 2, true))).toEqual(trained);
    await wire.result('unload_model', { model_id: second, type: 'unload_model' });
  });

  it('samples the trained weights', async () => {
    const body = { model_id: model, sampling_session_seq_id: 0, seq_id: 8, type: 'save_weights_for_sampler' };
    const { sampling_session_id } = await wire.result<{ sampling_session_id: string }>(
      'save_weights_for_sampler',
      body,
    );
    const sample = await wire.sample(ask({ sampling_session_id, seq_id: 0 }));
    for (const [t, p] of sample.prompt_logprobs!.entries()) expect(Math.abs(p! - trained[t]!)).toBeLessThan(1e-3);
    await wire.result('unload_model', { model_id: model, type: 'unload_model' });
  });
});

const sum = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0);
