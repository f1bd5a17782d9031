/**
 * Models in training on the server. Requests of one model go out in the order they are made, each after the last one's
 * submission (not its result), under numbers counted from 1.
 *
 * Which (model, number, payload, request id) went out is kept in memory only: every resumed run makes a new model from the
 * last committed checkpoint, so nothing of an old model's order is ever needed again on disk.
 */
import { InfraError } from '../../../util/error.ts';
import { contentId } from '../../../util/id.ts';
import { doneOf, type Futures, type Json } from './futures.ts';
import { checkpointError } from './missing.ts';
import type { Profile } from './profiles.ts';
import type { Session, Sessions } from './sessions.ts';
import { type Body, Lost, Refused, type Transport } from './transport.ts';

export interface Sent {
  readonly seq: number;
  readonly kind: string;
  /** Hash of the payload: what is sent again under a number is what was sent before. */
  readonly hash: string;
  readonly requestId: string;
}

export interface RemoteModel {
  readonly id: string;
  readonly session: Session;
  /** Requests sent so far, the last ones. */
  readonly sent: readonly Sent[];
  /**
   * Queues a request; the promise is its result. After a failure the model takes no more: what is accumulated there is unknown.
   * @throws Refused, Lost, InfraError
   */
  request(kind: string, build: (seq: number) => Body): Promise<Json>;
  /** Best effort: a server that is gone has unloaded it. */
  unload(): Promise<void>;
}

export interface Models {
  /** A fresh adapter on the base, one creation at a time. @throws Refused, Lost, InfraError */
  create(): Promise<RemoteModel>;
  /** One with the weights of a checkpoint, and its optimizer's state if that is asked for. @throws LostCheckpoint besides */
  load(path: string, optimizer: boolean): Promise<RemoteModel>;
}

export interface ModelsOptions {
  readonly transport: Transport;
  readonly futures: Futures;
  readonly sessions: Sessions;
  readonly profile: Profile;
  readonly base: string;
  readonly rank: number;
  /** Of the adapters' first weights. */
  readonly seed: number;
}

const REMEMBERED = 64;
const RESENDS = 3;
/** A model that is not unloaded in time goes with its session. */
const UNLOAD_MS = 60_000;

export function openModels({ transport, futures, sessions, profile, base, rank, seed }: ModelsOptions): Models {
  let last: Promise<unknown> = Promise.resolve();

  const create = async (): Promise<RemoteModel> => {
    const session = await sessions.current();
    const body = {
      session_id: session.id,
      model_seq_id: session.nextModel(),
      base_model: base,
      lora_config: { rank, seed, train_unembed: true, train_mlp: true, train_attn: true },
      type: 'create_model',
    };
    try {
      const { model_id: id } = await futures.run('create_model', body, 'create_model');
      if (typeof id !== 'string' || id === '') throw new InfraError('create_model: the server gave no model_id');
      return modelOf(id, session, { transport, futures, profile });
    } catch (error) {
      if (error instanceof Lost) sessions.forget(session);
      throw error;
    }
  };
  const createInTurn = (): Promise<RemoteModel> => {
    const made = last.then(create).catch((error) => {
      // A session that the server has lost meanwhile is made anew once.
      if (error instanceof Lost) return create();
      throw error;
    });
    last = made.catch(() => {});
    return made;
  };
  const load = async (path: string, optimizer: boolean): Promise<RemoteModel> => {
    const model = await createInTurn();
    try {
      await model.request('load_weights', (seq_id) => ({
        model_id: model.id,
        seq_id,
        path,
        optimizer,
        type: 'load_weights',
      }));
      return model;
    } catch (error) {
      void model.unload();
      throw error;
    }
  };
  return {
    create: createInTurn,
    load: (path, optimizer) =>
      load(path, optimizer)
        // The model may be what was lost.
        .catch((error) => (error instanceof Lost ? load(path, optimizer) : Promise.reject(error)))
        .catch((error) => Promise.reject(checkpointError(error, path, transport.url))),
  };
}

function modelOf(
  id: string,
  session: Session,
  { transport, futures, profile }: Pick<ModelsOptions, 'transport' | 'futures' | 'profile'>,
): RemoteModel {
  const sent: Sent[] = [];
  let seq = 0;
  let broken: Error | null = null;
  let tail: Promise<unknown> = Promise.resolve();
  const again = profile.sequence !== 'none';

  const submit = async (kind: string, body: Body, number: number) => {
    const operation = transport.operation(`${kind} ${number} of ${id}`);
    const hash = hashOf(body);
    const requestId = await futures.submit(kind, body, operation, again).catch((error) => {
      throw conflict(error, { id, sent }, number, hash);
    });
    sent.push({ seq: number, kind, hash, requestId });
    if (sent.length > REMEMBERED) sent.shift();
    return { operation, requestId };
  };

  /** The result, whatever the server forgets in between. */
  const settle = async (kind: string, body: Body, number: number, first: Awaited<ReturnType<typeof submit>>) => {
    let { operation, requestId } = first;
    for (let tries = 0; ; tries++) {
      const outcome = await futures.retrieve(kind, requestId, operation);
      if (outcome.state !== 'gone' || !again || tries >= RESENDS) return doneOf(outcome, operation.name);
      ({ operation, requestId } = await submit(kind, body, number));
    }
  };

  return {
    id,
    session,
    sent,
    request(kind, build) {
      const number = ++seq;
      const submitted = tail.then(async () => {
        if (broken !== null) throw broken;
        const body = build(number);
        return { body, first: await submit(kind, body, number) };
      });
      tail = submitted.catch(() => {});
      const result = submitted.then(({ body, first }) => settle(kind, body, number, first));
      return result.catch((error) => {
        broken ??= error instanceof Error ? error : new Error(String(error));
        throw error;
      });
    },
    async unload() {
      await tail;
      await futures
        .run('unload_model', { model_id: id, type: 'unload_model' }, `unload_model of ${id}`, UNLOAD_MS)
        .catch(() => {});
    },
  };
}

/** A number that is taken: by a request of ours whose answer never reached us, or by somebody else's. */
function conflict(error: unknown, { id, sent }: Pick<RemoteModel, 'id' | 'sent'>, seq: number, hash: string): unknown {
  if (!(error instanceof Refused) || error.status !== 409) return error;
  const before = sent.find((one) => one.seq === seq);
  const how = before?.hash === hash ? `was taken before, as ${before.requestId}` : 'was taken, and its answer was lost';
  return new Lost(`${error.message}: request ${seq} of ${id} ${how}; the model's last checkpoint is whole`);
}

export const hashOf = (body: Body): string => contentId(body instanceof Uint8Array ? body : JSON.stringify(body));
