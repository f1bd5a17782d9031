/** Sampling sessions of frozen weights: made when they are first needed, again when the server has lost them. */
import pLimit from 'p-limit';
import type { Completion, Policy, SampleRequest, Tokenizer } from '../../../engine.ts';
import { InfraError, UserError } from '../../../util/error.ts';
import { unknownHere } from '../../misfit.ts';
import { areZeroFilled } from './batch.ts';
import { readCompletion, sampleBody } from './completions.ts';
import type { Futures, Json } from './futures.ts';
import type { Live } from './live.ts';
import { checkpointError } from './missing.ts';
import type { Models, RemoteModel } from './models.ts';
import { readPolicyId } from './policy-id.ts';
import type { Profile } from './profiles.ts';
import type { Session, Sessions } from './sessions.ts';
import { Lost, type Transport } from './transport.ts';
import { vocabularyError } from './vocabulary.ts';

interface Sampler {
  readonly id: string;
  readonly session: Session;
  /** The model whose weights it has; null for the base and for checkpoints, which do not change. */
  readonly model: RemoteModel | null;
  nextSeq(): number;
}

export interface SamplersOptions {
  readonly transport: Transport;
  readonly futures: Futures;
  readonly sessions: Sessions;
  readonly models: Models;
  readonly live: Live;
  readonly profile: Profile;
  readonly base: string;
  readonly tokenizer: Tokenizer;
  readonly seed: number;
  readonly concurrency: number;
}

export interface Samplers {
  /** @throws UserError for a name that is none of this server's kind. */
  policy(id: string): Policy;
  usage(): { readonly sampled: number; readonly prefilled: number };
}

/** Models that only hold old weights for sampling. */
const FROZEN = 3;

export function openSamplers(options: SamplersOptions): Samplers {
  const { transport, futures, sessions, models, live, profile, base, tokenizer, seed } = options;
  const limit = pLimit(options.concurrency);
  const total = { sampled: 0, prefilled: 0 };
  const opened = new Map<string, Promise<Sampler>>();
  /** By policy, the one used last comes last. */
  const frozen = new Map<string, Promise<RemoteModel>>();

  const make = (id: unknown, session: Session, model: RemoteModel | null): Sampler => {
    if (typeof id !== 'string' || id === '') throw new InfraError('the server gave no sampling_session_id');
    let seq = 0;
    return { id, session, model, nextSeq: () => seq++ };
  };

  /** Immutable weights. */
  const fromPath = async (where: Json): Promise<Sampler> => {
    const session = await sessions.current();
    const body = { session_id: session.id, sampling_session_seq_id: session.nextSampler(), ...where };
    const asked = { ...body, type: 'create_sampling_session' };
    const answer = await transport.ask('create_sampling_session', asked, 'create_sampling_session').catch((error) => {
      if (error instanceof Lost) sessions.forget(session);
      throw error;
    });
    return make(answer.sampling_session_id, session, null);
  };

  const fromModel = async (model: RemoteModel): Promise<Sampler> => {
    const { session } = model;
    const answer = await model.request('save_weights_for_sampler', (seq_id) => ({
      model_id: model.id,
      sampling_session_seq_id: session.nextSampler(),
      seq_id,
      type: 'save_weights_for_sampler',
    }));
    return make(answer.sampling_session_id, session, model);
  };

  /** A model of its own for weights that no model in training has. */
  const freeze = async (policy: string, path: string): Promise<RemoteModel> => {
    const found = frozen.get(policy);
    frozen.delete(policy);
    const [[oldest, old] = []] = frozen.size >= FROZEN ? frozen : [];
    if (found === undefined && oldest !== undefined) {
      frozen.delete(oldest);
      opened.delete(oldest);
      await old!.then((model) => model.unload()).catch(() => {});
    }
    const model = found ?? models.load(path, false);
    frozen.set(policy, model);
    model.catch(() => frozen.delete(policy));
    return model;
  };

  const open = async (policy: string): Promise<Sampler> => {
    const weights = readPolicyId(policy, base);
    if (weights === null) return fromPath({ base_model: base });
    if (profile.snapshots === 'kept' && weights.sampler !== null) return fromPath({ model_path: weights.sampler });
    if (weights.training === null)
      throw new UserError(
        `policy "${policy}" is for sampling alone, which this server does not freeze; name …/weights/…`,
      );
    return fromModel(live.get(policy) ?? (await freeze(policy, weights.training)));
  };

  const samplerOf = async (policy: string): Promise<Sampler> => {
    const before = await opened.get(policy);
    // A model that was trained since then has other weights.
    const stale = before?.model != null && live.get(policy) !== before.model && !frozen.has(policy);
    const found = stale ? undefined : opened.get(policy);
    if (found !== undefined) return found;
    const made = open(policy);
    opened.set(policy, made);
    made.catch(() => opened.delete(policy));
    return made;
  };

  /** Made a second time where something was lost in between. @throws LostCheckpoint */
  const sureSamplerOf = (policy: string): Promise<Sampler> =>
    samplerOf(policy)
      .catch((error) => (error instanceof Lost ? samplerOf(policy) : Promise.reject(error)))
      .catch((error) => Promise.reject(missing(error, policy)));

  const missing = (error: unknown, policy: string): unknown => {
    const weights = readPolicyId(policy, base);
    const path = weights?.sampler ?? weights?.training;
    return path == null ? error : checkpointError(error, path, transport.url);
  };

  const complete = async (policy: string, request: SampleRequest): Promise<Completion> => {
    for (let tries = 0; ; tries++) {
      const sampler = await sureSamplerOf(policy);
      const body = sampleBody(request, { sampler: sampler.id, seq: sampler.nextSeq(), seed });
      try {
        const completion = readCompletion(await futures.run('asample', body, 'asample'), request);
        const misfit = unknownHere(request.prompt, completion.tokens, tokenizer);
        if (misfit !== null) throw misfit;
        total.sampled += completion.tokens.length;
        total.prefilled += request.prompt.length;
        return completion;
      } catch (error) {
        if (!(error instanceof Lost)) throw vocabularyError(error, [request.prompt], tokenizer);
        // Some servers look for the checkpoint only now.
        if (tries > 0) throw missing(error, policy);
        // A server that was started anew knows the checkpoints, not the sessions.
        sessions.forget(sampler.session);
        if ((await opened.get(policy)?.catch(() => null)) === sampler) opened.delete(policy);
        frozen.delete(policy);
      }
    }
  };

  const sample = async (policy: string, requests: readonly SampleRequest[]): Promise<readonly Completion[]> => {
    let failed: unknown = null;
    const one = async (request: SampleRequest): Promise<Completion> => {
      // One failure ends the batch: what was not sent yet is not.
      if (failed !== null) throw failed;
      try {
        return await complete(policy, request);
      } catch (error) {
        failed ??= error;
        throw error;
      }
    };
    if (requests.length > 0) await sureSamplerOf(policy);
    const done = await Promise.allSettled(requests.map((request) => limit(() => one(request))));
    if (failed !== null) throw failed;
    const completions = done.map((d) => (d as PromiseFulfilledResult<Completion>).value);
    if (areZeroFilled(completions.flatMap((c) => c.logprobs)))
      throw new InfraError(
        'the server gave 0 for every log-probability of the sampled tokens: it has none to give, and training needs them',
      );
    return completions;
  };

  return {
    policy(id) {
      readPolicyId(id, base);
      return { id, open: () => ({ sample: (requests) => sample(id, requests), close: async () => {} }) };
    },
    usage: () => ({ ...total }),
  };
}
