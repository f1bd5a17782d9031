/** One request and its reply, sent again while that can help: a clock for every operation, and errors that say what to do. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfraError, UserError } from '../../../util/error.ts';
import { type Http, HttpFailure, openHttp, plainUrl, retryAfterMs } from '../../../util/http.ts';
import { rng } from '../../../util/rng.ts';
import { complaintIn, said } from '../../../util/said.ts';
import type { TinkerTimes } from './options.ts';

export const PROTO = 'application/x-protobuf';
const KEY = 'TINKER_API_KEY';
const LONGEST_PAUSE_MS = 30_000;
/** A paused account is asked about this often. */
const BILLING_PAUSE_MS = 5_000;
/** Longest reply: the log-probabilities of a large batch. */
const MAX_BYTES = 512 * 1024 * 1024;

/** What the server knew is gone: a session, a model, a result. Another one can be made. */
export class Lost extends InfraError {
  /** What the server said about it, with 404 or 410; null where it did not. */
  readonly said: string | null;
  constructor(message: string, said: string | null = null) {
    super(message);
    this.said = said;
  }
}

/** The reply is a refusal that sending again does not cure. */
export class Refused extends UserError {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Answer {
  readonly status: number;
  /** Undefined where the reply is no JSON object. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** Body of a reply in protobuf: some servers send results so whatever is accepted. */
  readonly proto: Uint8Array | null;
  /** What the server says, one line. */
  readonly said: string;
  readonly afterMs: number | null;
}

export type Body = Readonly<Record<string, unknown>> | Uint8Array;

/** Something that must end in time. */
export interface Operation {
  /** For messages: `optim_step of model x`. */
  readonly name: string;
  /** Clock time (Date.now) of its end. */
  readonly until: number;
}

export interface Transport {
  readonly url: string;
  readonly apiKey: string | null;
  readonly times: TinkerTimes;
  /** What to do when the server went away. */
  readonly again: string;
  /** @param ms less than the usual time. */
  operation(name: string, ms?: number): Operation;
  /** One attempt. @throws HttpFailure; InfraError when the operation's time is up. */
  send(path: string, body: Body | null, operation: Operation, waitMs?: number): Promise<Answer>;
  /** `attempt` until it gives something; null and HttpFailure are "again", after a pause. @throws InfraError */
  persist<T>(operation: Operation, attempt: (pause: (ms: number) => void) => Promise<T | null>): Promise<T>;
  /** The JSON of a 2xx reply; what may be sent twice. @throws Refused, Lost, InfraError */
  ask(path: string, body: Body | null, name: string): Promise<Readonly<Record<string, unknown>>>;
  /** One attempt at removing something; whether it was there does not matter. */
  remove(path: string): Promise<void>;
  /** @throws UserError where something else than a Tinker server answers. */
  hello(): Promise<void>;
  /** openapi.json of the server, if it has one. */
  title(): Promise<string | null>;
  close(): Promise<void>;
}

const FIRST_PATIENCE_MS = 15_000;
const IS_IT_UP = 'is the server up, and is its address right? Then run the same command again';

export function openTransport(url: string, times: TinkerTimes, again: string): Transport {
  const apiKey = process.env[KEY] || null;
  const http: Http = openHttp({ connectMs: 5_000, totalMs: times.pollMs + 15_000, maxBytes: MAX_BYTES });
  const headers = apiKey === null ? {} : { 'x-api-key': apiKey };
  const closed = new AbortController();
  // Every wait listens to it.
  setMaxListeners(0, closed.signal);
  /** The last operation found nobody there: others need not wait as long to learn it. */
  let down = false;
  /** It has answered at least once: before that, a wrong address is likelier than a server that is coming back. */
  let reached = false;

  const send: Transport['send'] = async (path, body, operation, waitMs) => {
    const left = operation.until - Date.now();
    if (left <= 0) throw timeUp(url, operation, again);
    const late = AbortSignal.timeout(Math.ceil(Math.min(left, waitMs ?? left)));
    const signal = AbortSignal.any([closed.signal, late]);
    const content =
      body === null ? {} : body instanceof Uint8Array ? { body: { type: PROTO, bytes: body } } : { json: body };
    try {
      const method = body === null ? 'GET' : 'POST';
      return answerOf(await http.send({ method, url: `${url}/api/v1/${path}`, headers, ...content, signal }));
    } catch (error) {
      if (closed.signal.aborted) throw closed.signal.reason;
      if (late.aborted && waitMs !== undefined && waitMs < left)
        throw new HttpFailure('timeout', `${plainUrl(url)} has not answered within ${waitMs / 1000} s`);
      throw late.aborted ? timeUp(url, operation, again) : error;
    }
  };

  const persist: Transport['persist'] = async (operation, attempt) => {
    let unreachable: number | null = null;
    for (let n = 0; ; n++) {
      let pause = Math.min(LONGEST_PAUSE_MS, times.pauseMs * 2 ** Math.min(n, 16));
      try {
        const result = await attempt((ms) => {
          pause = ms;
        });
        down = false;
        reached = true;
        if (result !== null) return result;
        unreachable = null;
      } catch (error) {
        if (!(error instanceof HttpFailure) || error.kind === 'too-large') throw error;
        unreachable ??= Date.now();
        const patience = down ? 0 : reached ? times.patienceMs : Math.min(times.patienceMs, FIRST_PATIENCE_MS);
        down ||= Date.now() - unreachable >= patience;
        if (Date.now() - unreachable >= patience)
          throw new InfraError(`${operation.name}: ${error.message}; ${reached ? again : IS_IT_UP}`, { cause: error });
        pause = Math.min(pause, times.patienceMs);
      }
      const jitter = 0.5 + rng('tinker', operation.name, n).uniform() / 2;
      const left = operation.until - Date.now();
      if (left <= 0) throw timeUp(url, operation, again);
      await sleep(Math.min(left, pause * jitter), undefined, { signal: closed.signal }).catch(() => {
        throw closed.signal.reason;
      });
    }
  };

  const operation: Transport['operation'] = (name, ms = times.operationMs) => ({ name, until: Date.now() + ms });

  return {
    url,
    apiKey,
    times,
    again,
    operation,
    send,
    persist,
    async ask(path, body, name) {
      const asked = operation(name);
      return persist(asked, async (pause) => accepted(await send(path, body, asked), name, pause, again));
    },
    async hello() {
      const asked = operation('healthz');
      await persist(asked, async (pause) => {
        const answer = await send('healthz', null, asked);
        if (isForeign(answer))
          throw new UserError(
            `${plainUrl(url)} is no Tinker server: /api/v1/healthz answered ${answer.status}${inBrackets(answer.said)}; check its address, which ends before /api/v1`,
          );
        return accepted(answer, 'healthz', pause, again);
      });
    },
    async remove(path) {
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(times.pollMs)]);
      await http.send({ method: 'DELETE', url: `${url}/api/v1/${path}`, headers, signal });
    },
    async title() {
      const signal = AbortSignal.timeout(times.pollMs);
      const reply = await http.send({ method: 'GET', url: `${new URL(url).origin}/openapi.json`, headers, signal });
      const info = answerOf(reply).json?.info;
      return typeof info === 'object' && info !== null && 'title' in info ? String(info.title) : null;
    },
    async close() {
      closed.abort(new InfraError('the engine was closed'));
      await http.close();
    },
  };
}

const timeUp = (url: string, { name }: Operation, again: string): InfraError =>
  new InfraError(
    `${plainUrl(url)} has not ended ${name} in the time it has; is it stuck? Then start it anew, and ${again}`,
  );

/**
 * The JSON of a 2xx reply, null for what may pass: the pause is set to what the server asks for.
 * @throws Refused, Lost; HttpFailure for 5xx
 */
export function accepted(
  answer: Answer,
  name: string,
  pause: (ms: number) => void,
  again: string,
): NonNullable<Answer['json']> | null {
  const { status, json, said, afterMs } = answer;
  if (status >= 200 && status < 300) {
    if (json === undefined)
      throw new InfraError(`${name}: the server answered ${status} with something that is no JSON${inBrackets(said)}`);
    return json;
  }
  if (isPassing(answer)) {
    if (status === 402) pause(BILLING_PAUSE_MS);
    if (afterMs !== null) pause(Math.min(afterMs, LONGEST_PAUSE_MS));
    // Counted as being away.
    if (status >= 500) throw new HttpFailure('status', `the server answered ${status}${inBrackets(said)}`);
    return null;
  }
  const hint = status === 403 && !process.env[KEY] ? '' : (HINTS[status] ?? '');
  const text = `${name}: the server answered ${status}${inBrackets(said)}${hint}`;
  if (status === 404 || status === 410) throw new Lost(`${text}; ${again}`, said);
  throw new Refused(status, text);
}

const HINTS: Readonly<Record<number, string>> = {
  401: `; put its key into the environment variable ${KEY}`,
  403: `; the key in the environment variable ${KEY} is not one of its`,
  413: '; send smaller batches (fewer questions or responses a step)',
  415: '; its encoding is another: name its profile, as in --engine tinker:URL#tuft or #generic-json',
};

/** An empty 400 is a proxy's, not the server's. */
const isPassing = ({ status, said }: Answer): boolean =>
  [402, 408, 425, 429].includes(status) || (status >= 500 && status !== 501) || (status === 400 && said === '');

/** What has no such route, or answers it with a page or a redirection. */
const isForeign = ({ status, json }: Answer): boolean =>
  [404, 405, 501].includes(status) || (status >= 200 && status < 400 && json === undefined);

const inBrackets = (words: string): string => (words === '' ? '' : ` (${words})`);

function answerOf(reply: Awaited<ReturnType<Http['send']>>): Answer {
  const { status } = reply;
  const afterMs = retryAfterMs(reply.header('retry-after'), Date.now());
  if (reply.header('content-type') === PROTO) return { status, json: undefined, proto: reply.bytes, said: '', afterMs };
  let json: Answer['json'];
  try {
    const parsed: unknown = JSON.parse(reply.text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) json = parsed as typeof json;
  } catch {
    // Whoever needs JSON says that there is none.
  }
  const words = json === undefined || complaintIn(json) !== null ? said(reply.text, reply.header('content-type')) : '';
  return { status, json, proto: null, said: words, afterMs };
}
