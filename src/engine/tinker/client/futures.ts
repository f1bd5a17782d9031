/** Requests whose result comes later: sent, then asked for until it is there. Every answer that the wire has is a row here. */
import { InfraError } from '../../../util/error.ts';
import { HttpFailure } from '../../../util/http.ts';
import { decodeLossResult } from '../wire/loss-codec.ts';
import { ProtoError } from '../wire/protobuf.ts';
import { decodeSampleResult } from '../wire/sample-codec.ts';
import type { Profile } from './profiles.ts';
import { type Answer, accepted, type Body, Lost, type Operation, Refused, type Transport } from './transport.ts';

export type Json = Readonly<Record<string, unknown>>;

/** gone: the server has forgotten the request (410). */
export type Outcome =
  | { readonly state: 'done'; readonly json: Json }
  | { readonly state: 'failed'; readonly error: string; readonly user: boolean }
  | { readonly state: 'gone' };

export interface Futures {
  /**
   * The request id. A reply that was lost on the way is asked for by sending the same again, where `again` allows that.
   * @throws Refused, Lost, InfraError
   */
  submit(path: string, body: Body, operation: Operation, again: boolean): Promise<string>;
  /** `path`: what the request was. */
  retrieve(path: string, requestId: string, operation: Operation): Promise<Outcome>;
  /** Both, for what may be repeated: asked anew when the server has forgotten it. */
  run(path: string, body: Body, name: string, ms?: number): Promise<Json>;
}

/** A 400 that may be a proxy's is asked again so often. */
const BAD_TRIES = 3;
/** Servers that do not hold a request while it is pending are asked at this pace. */
const PACE_MS = { first: 20, longest: 1000 };
/** A request that is forgotten so often will be forgotten again. */
const FORGOTTEN = 3;

export function futuresOf(transport: Transport, profile: Profile, warn: (text: string) => void): Futures {
  let queue = 'active';
  /** Says it once a change. */
  const heard = (json: Json | undefined): void => {
    const state = typeof json?.queue_state === 'string' ? json.queue_state : queue;
    if (state !== queue && state !== 'active') warn(`the server makes requests wait (${visibleState(state, json)})`);
    queue = state;
  };

  const submit: Futures['submit'] = (path, body, operation, again) =>
    transport.persist(operation, async (pause) => {
      let answer: Answer;
      try {
        answer = await transport.send(path, body, operation);
      } catch (error) {
        // Nobody knows whether it arrived.
        if (again || !(error instanceof HttpFailure)) throw error;
        throw new Lost(`${operation.name}: ${error.message}, and the server may have it twice if it is sent again`);
      }
      if (answer.status === 429 && answer.afterMs === null) pause(sizeOf(body) <= 128 * 1024 ? 1000 : 5000);
      if (answer.status >= 500 && !again)
        throw new Lost(
          `${operation.name}: the server answered ${answer.status} (${answer.said}), and may have it twice if it is sent again`,
        );
      const json = accepted(answer, operation.name, pause, transport.again);
      if (json === null) return null;
      const id = json.request_id;
      if (typeof id !== 'string' || id === '')
        throw new InfraError(`${operation.name}: the server's answer has no request_id`);
      return id;
    });

  const retrieve: Futures['retrieve'] = async (path, requestId, operation) => {
    let bad = 0;
    let pace = PACE_MS.first;
    return transport.persist<Outcome>(operation, async (pause) => {
      const asked = Date.now();
      let answer: Answer;
      try {
        answer = await transport.send('retrieve_future', { request_id: requestId }, operation, transport.times.pollMs);
      } catch (error) {
        // It is still waiting; a server that is not there is counted by `persist`.
        if (!(error instanceof HttpFailure && error.kind === 'timeout')) throw error;
        pause(0);
        return null;
      }
      const { status, said } = answer;
      const json = answer.proto === null ? answer.json : decoded(answer.proto, path, operation.name);
      const pending = status === 408 || status === 425 || (isOk(status) && isPending(json));
      if (pending) {
        heard(json);
        // After a long wait it is asked again at once.
        pace = Date.now() - asked > 500 ? PACE_MS.first : Math.min(PACE_MS.longest, pace * 1.5);
        pause(pace);
        return null;
      }
      if (isOk(status) && json !== undefined) {
        heard({ queue_state: 'active' });
        if (typeof json.error !== 'string') return { state: 'done', json };
        return { state: 'failed', error: said, user: json.category === 'user' };
      }
      if (status === 410) return { state: 'gone' };
      if (status === 422) return { state: 'failed', error: said, user: true };
      if (status === 400 && (profile.futureBad === 'failed' || ++bad >= BAD_TRIES))
        return { state: 'failed', error: said, user: true };
      if (status === 400) return null;
      accepted(answer, operation.name, pause, transport.again);
      return null;
    });
  };

  return {
    submit,
    retrieve,
    async run(path, body, name, ms) {
      const operation = transport.operation(name, ms);
      for (let tries = 1; ; tries++) {
        const outcome = await retrieve(path, await submit(path, body, operation, true), operation);
        if (outcome.state === 'gone' && tries < FORGOTTEN) continue;
        return doneOf(outcome, name);
      }
    },
  };
}

/** @throws Refused: the request is to blame; Lost: forgotten; InfraError: the server is. */
export function doneOf(outcome: Outcome, name: string): Json {
  switch (outcome.state) {
    case 'done':
      return outcome.json;
    case 'gone':
      throw new Lost(`${name}: the server has forgotten the request; was it started anew?`);
    case 'failed':
      if (outcome.user) throw new Refused(400, `${name} failed on the server: ${outcome.error}`);
      throw new InfraError(`${name} failed on the server: ${outcome.error}`);
    default:
      return outcome satisfies never;
  }
}

/** @throws InfraError */
function decoded(bytes: Uint8Array, path: string, name: string): Json {
  try {
    return path === 'asample' ? { ...decodeSampleResult(bytes) } : { ...decodeLossResult(bytes) };
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    throw new InfraError(`${name}: the server's result is no protobuf of the wire (${error.message})`, {
      cause: error,
    });
  }
}

const isOk = (status: number): boolean => status >= 200 && status < 300;

/** A large result is announced by its size to whoever allows that; we do not, and ask again. */
const isPending = (json: Json | undefined): boolean =>
  json?.type === 'try_again' || json?.status === 'complete_metadata';

const sizeOf = (body: Body): number => (body instanceof Uint8Array ? body.length : JSON.stringify(body).length);

const visibleState = (state: string, json: Json | undefined): string =>
  [state, json?.queue_state_reason]
    .filter((part) => typeof part === 'string')
    .join(': ')
    .slice(0, 200);
