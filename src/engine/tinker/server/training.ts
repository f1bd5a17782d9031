/** Models in training: made from the base or a checkpoint, one request after the other, unloaded with their session. */
import type { z } from 'zod';
import type { StateRef, TrainingClient } from '../../../engine.ts';
import type {
  createModelSchema,
  LoraConfig,
  LossRequest,
  loadWeightsSchema,
  optimStepSchema,
  saveForSamplerSchema,
  saveWeightsSchema,
} from '../wire/messages.ts';
import { checkpointPath, parseCheckpointPath } from '../wire/path.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { Result } from './futures.ts';
import { lossResult, toBatch } from './losses.ts';
import { Refusal } from './refusal.ts';
import { addSampler, reserveSampler } from './samplers.ts';
import { freePath, saveCheckpoint } from './saving.ts';
import { fingerprint, openSequence } from './sequence.ts';
import { checkBase, type Model, modelOf, type Session, type State, sessionOf } from './state.ts';

const json = (body: object): Result => ({ json: body });

export function createModel(state: State, request: z.infer<typeof createModelSchema>): string {
  const session = sessionOf(state, request.session_id);
  checkBase(state, request.base_model);
  checkOptimizer(request.optimizer_config);
  const lora = request.lora_config ?? null;
  if (lora !== null) checkLora(lora);
  return once(session, request.model_seq_id, request, () => {
    const ref = state.served.engine.base;
    return addModel(state, session, request.model_seq_id, lora, ref, request.user_metadata ?? null, (model) => ({
      model_id: model.id,
      type: 'create_model',
    }));
  });
}

/** Whoever asks for less than everything would get more than that. */
function checkLora(lora: LoraConfig): void {
  for (const part of ['train_unembed', 'train_mlp', 'train_attn'] as const)
    if (!lora[part]) throw new Refusal(400, `${part} is false; this server trains all weights of a model`);
}

function checkOptimizer(config: { readonly type: string } | null | undefined): void {
  if (config != null && config.type !== 'adamw')
    throw new Refusal(400, `optimizer_config.type is "${config.type}"; this server has adamw`);
}

/** The request id of this model_seq_id, whether the request comes for the first time or again. */
function once(session: Session, seq: number, payload: unknown, begin: () => string): string {
  const hash = fingerprint(payload);
  const before = session.models.get(seq);
  if (before !== undefined && before.hash !== hash)
    throw new Refusal(409, `model_seq_id ${seq} was used for a request with another payload`);
  if (before !== undefined) return before.requestId;
  const requestId = begin();
  session.models.set(seq, { hash, requestId });
  return requestId;
}

/** Independent copies of all weights: LoRA settings are remembered, not obeyed. */
function addModel(
  state: State,
  session: Session,
  seq: number,
  lora: LoraConfig | null,
  from: StateRef,
  metadata: Readonly<Record<string, unknown>> | null,
  answer: (model: Model) => object,
): string {
  const { served, checkpoints, settings, now } = state;
  const id = `${session.id}:train:${seq}`;
  return state.futures.add(async () => {
    const training = served.engine.train(from);
    const model: Model = {
      id,
      session,
      lora,
      sequence: openSequence(settings.sequence),
      training,
      last: training,
      count: 0,
      naming: new Set(),
    };
    state.models.set(id, model);
    try {
      await training;
      const created = new Date(now()).toISOString();
      const { name: base, engine } = served;
      const rank = lora?.rank ?? null;
      await checkpoints.addRun({ id, base, basePolicy: engine.base.policy, rank, created, metadata });
    } catch (error) {
      state.models.delete(id);
      throw error;
    }
    return json(answer(model));
  });
}

/** Runs after the model's earlier requests, whether they failed or not. `name` is taken until then. */
function enqueue(
  state: State,
  model: Model,
  seq: number | null | undefined,
  work: (training: TrainingClient) => Promise<Result>,
  name: string | null = null,
): string {
  return state.futures.add(() => {
    model.count++;
    if (name !== null) model.naming.add(name);
    const job = model.last.then(async () => work(await model.training));
    const ended = job.finally(() => {
      if (name !== null) model.naming.delete(name);
    });
    model.last = ended.catch(() => model.sequence.failed(seq ?? null));
    return ended;
  });
}

export function forwardBackward(state: State, request: LossRequest): string {
  const model = modelOf(state, request.model_id);
  const { batch, loss, options } = toBatch(request.input, state.served.limits);
  return model.sequence.admit(request.seq_id, request, () =>
    enqueue(state, model, request.seq_id, async (training) =>
      lossResult(
        request.forward_only
          ? await training.forward(batch, loss, options)
          : await training.forwardBackward(batch, loss, options),
      ),
    ),
  );
}

export function optimStep(state: State, request: z.infer<typeof optimStepSchema>): string {
  const { learning_rate, beta1, beta2, eps, weight_decay, grad_clip_norm } = request.adam_params;
  const settings = {
    learningRate: learning_rate,
    beta1,
    beta2,
    eps,
    weightDecay: weight_decay,
    gradClip: Math.max(0, grad_clip_norm),
  };
  const model = modelOf(state, request.model_id);
  return model.sequence.admit(request.seq_id ?? null, request, () =>
    enqueue(state, model, request.seq_id, async (training) => {
      const { gradNorm } = await training.optimStep(settings);
      return json({ metrics: { 'grad_norm:mean': gradNorm } });
    }),
  );
}

export function saveWeights(state: State, request: z.infer<typeof saveWeightsSchema>): string {
  const model = modelOf(state, request.model_id);
  const { seq_id, overwrite } = request;
  return model.sequence.admit(seq_id ?? null, request, () => {
    const path = freePath(state, model, 'weights', request.path ?? null, overwrite);
    const work = async (training: TrainingClient): Promise<Result> => {
      await saveCheckpoint(state, path, await training.save(), request);
      return json({ path: checkpointPath(path), type: 'save_weights' });
    };
    return enqueue(state, model, seq_id, work, checkpointPath(path));
  });
}

export function saveForSampler(state: State, request: z.infer<typeof saveForSamplerSchema>): string {
  const model = modelOf(state, request.model_id);
  const { path: name, seq_id, kind = 'snapshot' } = request;
  if (kind !== 'snapshot') throw new Refusal(400, `kind is "${kind}"; this server has snapshots, whose weights stay`);
  return model.sequence.admit(seq_id ?? null, request, () => {
    if (name == null) {
      const id = reserveSampler(model.session, request.sampling_session_seq_id!, request);
      return enqueue(state, model, seq_id, async (training) => {
        const { id: policy } = await training.snapshot();
        await addSampler(state, { id, session: model.session, policy, path: null, snapshotOf: model.id });
        return json({ path: null, sampling_session_id: id, type: 'save_weights_for_sampler' });
      });
    }
    const path = freePath(state, model, 'sampler_weights', name, false);
    const work = async (training: TrainingClient): Promise<Result> => {
      const { id: policy } = await training.snapshot();
      await saveCheckpoint(state, path, { policy, optimizer: null }, request);
      return json({ path: checkpointPath(path), type: 'save_weights_for_sampler' });
    };
    return enqueue(state, model, seq_id, work, checkpointPath(path));
  });
}

export function loadWeights(state: State, request: z.infer<typeof loadWeightsSchema>): string {
  const checkpoint = trainingCheckpoint(state, request.path);
  if (request.optimizer && checkpoint.optimizer === null)
    throw new Refusal(400, `${request.path} has no optimizer state; load it with optimizer false`);
  checkOptimizer(request.optimizer_config);
  const ref = { policy: checkpoint.policy, optimizer: request.optimizer ? checkpoint.optimizer : null };
  const answer = (model: Model): object => ({ path: request.path, model_id: model.id, type: 'load_weights' });
  if (request.model_id == null) {
    const session = sessionOf(state, request.session_id!);
    if (request.base_model != null) checkBase(state, request.base_model);
    const rank = state.checkpoints.run(checkpoint.run)!.rank;
    const lora = rank === null ? null : { rank, train_unembed: true, train_mlp: true, train_attn: true };
    return once(session, request.model_seq_id!, request, () =>
      addModel(state, session, request.model_seq_id!, lora, ref, request.user_metadata ?? null, answer),
    );
  }
  const model = modelOf(state, request.model_id);
  return model.sequence.admit(request.seq_id ?? null, request, () => {
    if (model.count > 0 && !state.settings.loadAnyTime)
      throw new Refusal(400, `load_weights must be the first request of a model; ${model.id} has had ${model.count}`);
    return enqueue(state, model, request.seq_id, async (training) => {
      await training.load(ref);
      return json(answer(model));
    });
  });
}

function trainingCheckpoint(state: State, text: string): Checkpoint {
  const path = parseCheckpointPath(text);
  if (path === null) throw new Refusal(400, `path is "${text}"; expected tinker://RUN/weights/NAME`);
  if (path.kind !== 'weights') throw new Refusal(400, `${text} is for sampling; training goes on from …/weights/…`);
  const found = state.checkpoints.find(path);
  if (found === undefined) throw new Refusal(404, `no checkpoint ${text}`);
  const { basePolicy, base } = state.checkpoints.run(found.run)!;
  if (basePolicy !== state.served.engine.base.policy)
    throw new Refusal(400, `${text} was trained from other weights ("${base}") than this server's base model`);
  return found;
}

export function unloadModel(state: State, id: string): string {
  const model = modelOf(state, id);
  return state.futures.add(async () => {
    await dropModel(state, model);
    return json({ model_id: id, type: 'unload_model' });
  });
}

/** From now on nobody reaches it; what is under way ends first. */
export async function dropModel(state: State, model: Model): Promise<void> {
  state.models.delete(model.id);
  await model.last;
  await (await model.training).close();
}
