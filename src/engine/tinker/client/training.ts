/** One LoRA model of the server as a TrainingClient. What is saved there is named by the paths that the server gives. */
import type {
  Datum,
  Loss,
  LossOptions,
  LossOutput,
  OptimSettings,
  Policy,
  StateRef,
  Tokenizer,
  TrainingClient,
} from '../../../engine.ts';
import { InfraError, UserError } from '../../../util/error.ts';
import {
  asPolicyGradient,
  type Caps,
  chunksOf,
  lossInput,
  lossOf,
  lossRequest,
  readLogprobs,
  scaledForMean,
} from './batch.ts';
import type { Json } from './futures.ts';
import type { Live } from './live.ts';
import type { Models, RemoteModel } from './models.ts';
import { policyId, readPolicyId } from './policy-id.ts';
import { PROFILES, type Profile, type ProfileName } from './profiles.ts';
import { Lost } from './transport.ts';
import { vocabularyError } from './vocabulary.ts';

export interface TrainingOptions {
  readonly models: Models;
  readonly live: Live;
  readonly profile: Profile;
  readonly profileName: ProfileName;
  readonly base: string;
  readonly tokenizer: Tokenizer;
  readonly caps: Caps;
  readonly policy: (id: string) => Policy;
  /** Hears of tokens trained. */
  readonly trained: (tokens: number) => void;
  readonly warnOnce: (text: string) => void;
  /** What to do when the server went away. */
  readonly again: string;
}

export class TinkerTraining implements TrainingClient {
  readonly #o: TrainingOptions;
  #model: RemoteModel | null = null;
  /** The state that the weights are, as long as no step was made since. */
  #at: StateRef | null = null;
  #pending = false;
  #saves = 0;

  constructor(options: TrainingOptions) {
    this.#o = options;
  }

  /** A new model: servers load a checkpoint into a model only before anything else. */
  async load(state: StateRef): Promise<void> {
    const { models, live, base } = this.#o;
    const weights = readPolicyId(state.policy, base);
    const path = state.optimizer ?? weights?.training ?? null;
    if (weights !== null && path === null)
      throw new UserError(`policy "${state.policy}" was saved for sampling alone; training cannot go on from it`);
    await this.close();
    const model = path === null ? await models.create() : await models.load(path, state.optimizer !== null);
    this.#model = model;
    this.#at = state;
    this.#pending = false;
    // The base is sampled as such; its name is no state of the model's.
    if (weights !== null) live.set(state.policy, model);
  }

  async forwardBackward(batch: readonly Datum[], loss: Loss, options: LossOptions = {}): Promise<LossOutput> {
    return this.#send(await this.#prepare(batch, loss, options));
  }

  async forward(batch: readonly Datum[], loss: Loss, options: LossOptions = {}): Promise<LossOutput> {
    checkBatch(batch);
    return this.#run(batch, batch, loss, options, true);
  }

  async optimStep(settings: OptimSettings): Promise<{ readonly gradNorm: number }> {
    return this.#step(settings);
  }

  /** Gradients and step are both on their way before either is done: a server that works in cycles loses none. */
  async update(
    batch: readonly Datum[],
    loss: Loss,
    settings: OptimSettings,
    options: LossOptions = {},
  ): Promise<{ readonly out: LossOutput; readonly gradNorm: number }> {
    const before = this.#pending ? null : this.#at;
    const both = async () => {
      const prepared = await this.#prepare(batch, loss, options);
      const [out, { gradNorm }] = await Promise.all([this.#send(prepared), this.#step(settings)]);
      return { out, gradNorm };
    };
    try {
      return await both();
    } catch (error) {
      // What a lost model had done goes with it: from the state before, the step is made once.
      if (!(error instanceof Lost) || before === null) throw error;
      await this.load(before);
      return both();
    }
  }

  async save(): Promise<StateRef> {
    if (this.#at !== null) return this.#at;
    const { profile, live } = this.#o;
    const model = this.#need();
    const name = `s${++this.#saves}`;
    const body = (type: string) => (seq_id: number) => ({ model_id: model.id, path: name, seq_id, type });
    const [training, sampler] = await Promise.all([
      model.request('save_weights', body('save_weights')).then(pathOf),
      profile.snapshots === 'kept'
        ? model.request('save_weights_for_sampler', body('save_weights_for_sampler')).then(pathOf)
        : null,
    ]);
    this.#at = { policy: policyId({ sampler, training }), optimizer: training };
    live.set(this.#at.policy, model);
    return this.#at;
  }

  async snapshot(): Promise<Policy> {
    return this.#o.policy((await this.save()).policy);
  }

  async close(): Promise<void> {
    const model = this.#model;
    this.#model = null;
    this.#at = null;
    if (model === null) return;
    this.#o.live.drop(model);
    await model.unload();
  }

  #need(): RemoteModel {
    if (this.#model === null) throw new InfraError(`the model in training is gone; ${this.#o.again}`);
    return this.#model;
  }

  /** What the server is to be sent so that its gradient is that of the sum. */
  async #prepare(batch: readonly Datum[], loss: Loss, options: LossOptions): Promise<Prepared> {
    const { profile, profileName } = this.#o;
    checkBatch(batch);
    if (!profile.losses.includes(loss))
      throw new UserError(
        `a server of profile ${profileName} has no loss "${loss}"; it has ${profile.losses.join(', ')}`,
      );
    if (profile.reduction === 'sum') return { batch, asked: batch, loss, wireLoss: loss, options };
    if (loss !== 'cross_entropy') return { batch, asked: scaledForMean(batch), loss, wireLoss: loss, options };
    const { logprobs } = await this.forward(batch, loss, options);
    const asked = scaledForMean(asPolicyGradient(batch, logprobs));
    return { batch, asked, loss, wireLoss: 'importance_sampling', options };
  }

  #send({ batch, asked, loss, wireLoss, options }: Prepared): Promise<LossOutput> {
    this.#pending = true;
    return this.#run(batch, asked, loss, options, false, wireLoss);
  }

  async #run(
    batch: readonly Datum[],
    asked: readonly Datum[],
    loss: Loss,
    options: LossOptions,
    forward: boolean,
    wireLoss: Loss = loss,
  ): Promise<LossOutput> {
    const { profile, caps, trained, tokenizer } = this.#o;
    const model = this.#need();
    if (forward && !profile.forward) throw new UserError('this server has no forward without gradients');
    const kind = forward && profile.encoding === 'json' ? 'forward' : 'forward_backward';
    const chunks = chunksOf(asked, caps);
    const results = await Promise.all(
      chunks.map((chunk) =>
        model.request(kind, (seq) =>
          lossRequest(lossInput(chunk, wireLoss, options), { model: model.id, seq, forward }, profile.encoding),
        ),
      ),
    ).catch((error) => {
      const sequences = batch.map(({ tokens }) => tokens);
      throw vocabularyError(error, sequences, tokenizer);
    });
    for (const result of results) this.#checkKind(result);
    const logprobs = results.flatMap((result, i) => readLogprobs(result, chunks[i]!, kind));
    trained(batch.reduce((sum, { tokens }) => sum + tokens.length - 1, 0));
    const sums = profile.reduction === 'sum' ? results.map((r) => metric(r, 'loss:sum')) : [null];
    const told = sums.every((x) => x !== null) ? sums.reduce((a, b) => a! + b!, 0) : null;
    return { loss: told ?? lossOf(batch, logprobs, loss, options), logprobs };
  }

  /** Tells servers apart that look alike until they train: a wrong row would scale every gradient wrongly. */
  #checkKind(result: Json): void {
    const { profile, profileName } = this.#o;
    const found = result.loss_fn_output_type === 'scalar';
    if (found === (profile.outputType === 'scalar')) return;
    const other = found ? 'skyrl-jax' : 'skyrl-train';
    throw new UserError(
      `the server does not train as profile ${profileName} says; it looks like ${other}: give --engine tinker:URL#${other} (known: ${Object.keys(PROFILES).join(', ')})`,
    );
  }

  async #step(settings: OptimSettings): Promise<{ readonly gradNorm: number }> {
    const { learningRate, beta1, beta2, eps, weightDecay, gradClip, muonRate } = settings;
    const { profile, live, warnOnce } = this.#o;
    if (muonRate !== undefined) throw new UserError('servers of the Tinker wire have no Muon; train with AdamW');
    if (gradClip > 0 && !profile.gradClip) warnOnce('this server does not clip gradients: --grad-clip has no effect');
    const model = this.#need();
    this.#at = null;
    this.#pending = false;
    live.drop(model);
    const adam_params = {
      learning_rate: learningRate,
      beta1,
      beta2,
      eps,
      weight_decay: weightDecay,
      grad_clip_norm: gradClip,
    };
    const result = await model.request('optim_step', (seq_id) => ({
      model_id: model.id,
      seq_id,
      adam_params,
      type: 'optim_step',
    }));
    const norm =
      metric(result, 'grad_norm:mean') ?? metric(result, 'skyrl.ai/grad_norm') ?? metric(result, 'grad_norm');
    if (norm === null) warnOnce('this server does not tell the norm of gradients: it is recorded as 0');
    return { gradNorm: norm ?? 0 };
  }
}

interface Prepared {
  readonly batch: readonly Datum[];
  readonly asked: readonly Datum[];
  readonly loss: Loss;
  readonly wireLoss: Loss;
  readonly options: LossOptions;
}

function checkBatch(batch: readonly Datum[]): void {
  if (batch.length === 0) throw new UserError('a batch is empty; expected at least one sequence');
  batch.forEach((datum, i) => {
    const T = datum.tokens.length - 1;
    if (T < 1) throw new UserError(`datum ${i} has ${T + 1} tokens; expected at least 2`);
    for (const field of ['targets', 'weights', 'advantages', 'logprobs'] as const) {
      const length = datum[field]?.length ?? T;
      if (length !== T) throw new UserError(`datum ${i} has ${length} ${field}; expected ${T}, one per target`);
    }
  });
}

const metric = (result: Json, name: string): number | null => {
  const { metrics } = result;
  const value: unknown = typeof metrics === 'object' && metrics !== null ? (metrics as Json)[name] : null;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

function pathOf({ path, type }: Json): string {
  if (typeof path !== 'string' || path === '') throw new InfraError(`${String(type)}: the server gave no path`);
  return path;
}
