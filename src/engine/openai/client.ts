/**
 * Requests to one server: bounded concurrency, bounded retries, a limit on every wait. A failure is one of four: the prompt
 * is too long, the settings are wrong (thrown as UserError), it may pass (retried), or it stands.
 */
import { Agent } from 'undici';
import { UserError } from '../../util/error.ts';
import {
  answered,
  expectOk,
  type Http,
  HttpFailure,
  type HttpLimits,
  type HttpReply,
  httpAgain,
  openHttp,
  plainUrl,
} from '../../util/http.ts';
import { type Again, type Retry, retrying } from '../../util/retry.ts';
import { said } from '../../util/said.ts';
import { type TooLong, tooLong } from './context-length.ts';
import { openLimiter } from './limiter.ts';
import { OPENING, type OpenAIWords } from './options.ts';
import { parseJson } from './server.ts';
import { givingUp } from './silence.ts';
import { openWatch } from './watch.ts';
import { BadReply, type Body } from './wire.ts';

export interface ClientOptions {
  /** Root of the API. */
  readonly root: string;
  readonly words: OpenAIWords;
  readonly apiKeyEnv: string;
  readonly concurrency: number;
  readonly limits: HttpLimits;
  readonly retry: Retry;
  /** Hears that nothing has been answered for a while. */
  readonly note: (text: string) => void;
}

/** The prompt does not fit the model; never retried. */
export class PromptTooLong extends Error {
  readonly lengths: TooLong;
  constructor(lengths: TooLong) {
    super('the prompt is too long');
    this.lengths = lengths;
  }
}

export interface Client {
  readonly root: string;
  readonly words: OpenAIWords;
  /** Environment variable of the key. */
  readonly keyName: string;
  /** Within the limits of opening, and a second time where nothing came; a reply of any status. @throws HttpFailure */
  get(path: string): Promise<HttpReply>;
  /** The same for a body, and after retries. @throws HttpFailure */
  probe(path: string, body: Body): Promise<HttpReply>;
  /** After retries; a reply of any status that does not pass by itself. @throws HttpFailure */
  post(path: string, body: Body, key: string): Promise<HttpReply>;
  /**
   * What `read` makes of the JSON of a 2xx reply, after retries. `key` names their jitter.
   * @throws UserError, PromptTooLong, InfraError
   */
  ask<T>(path: string, body: Body, key: string, read: (json: unknown) => T, signal?: AbortSignal): Promise<T>;
  /** One attempt at something else, in a place of its own. */
  run<T>(work: (line: Line) => Promise<T>): Promise<T>;
  places(): number;
  close(): Promise<void>;
}

/** What a request goes out by. */
export interface Line {
  readonly dispatcher: Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: HttpLimits;
}

export function openClient(options: ClientOptions): Client {
  const { root, words, apiKeyEnv, concurrency, limits, retry, note } = options;
  const names: Names = { words, keyName: apiKeyEnv };
  const agent = new Agent({
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.totalMs,
    bodyTimeout: limits.totalMs,
    maxResponseSize: limits.maxBytes,
  });
  const speaker = (own: HttpLimits): Pick<Http, 'send'> => {
    const http = openHttp(own, agent);
    return {
      async send(request) {
        const { status, header, bytes, text } = await http.send(request);
        return { status, header, bytes, text: masked(text, apiKeyEnv) };
      },
    };
  };
  const http = givingUp(speaker(limits), limits);
  const opening = speaker({ ...limits, totalMs: Math.min(limits.totalMs, OPENING.totalMs) });
  const watch = openWatch(note, limits.totalMs);
  const limiter = openLimiter(concurrency, (error) => error instanceof HttpFailure && error.status === 429);
  const key = process.env[apiKeyEnv];
  const headers = key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` };
  /** The last request found nobody there, retries and all: others need not wait as long to learn it. */
  let gone = false;

  const again = (error: unknown): Again => {
    if (error instanceof BadReply) return { afterMs: null };
    return gone && isConnection(error) ? null : httpAgain(error);
  };
  /** What one request takes, tries and all, is twice the time of one. */
  const bounded = (): ((error: unknown) => Again) => {
    const until = performance.now() + ATTEMPTS_TIME * limits.totalMs;
    return (error) => (performance.now() < until ? again(error) : null);
  };

  const isTimeout = (error: unknown): boolean => error instanceof HttpFailure && error.kind === 'timeout';
  /** `may` decides about all but timeouts, of which there are few. */
  const patient = (may: (error: unknown) => Again): ((error: unknown) => Again) => {
    let timeouts = 0;
    return (error) => {
      if (!isTimeout(error)) return may(error);
      return ++timeouts < OPENING.timeouts ? { afterMs: null } : null;
    };
  };
  const posted = async (by: Pick<Http, 'send'>, path: string, json: Body): Promise<HttpReply> => {
    const reply = await by.send({ method: 'POST', url: root + path, headers, json });
    return reply.status >= 500 || PASSING.includes(reply.status) ? check(reply, root + path, names) : reply;
  };

  return {
    root,
    ...names,
    get: (path) =>
      retrying({ retry, key: path, again: patient(() => null) }, () =>
        opening.send({ method: 'GET', url: root + path, headers }),
      ),
    probe: (path, json) => retrying({ retry, key: 'probe', again: patient(again) }, () => posted(opening, path, json)),
    post: (path, json, key) => retrying({ retry, key, again: bounded() }, () => posted(http, path, json)),
    async ask(path, json, key, read, signal) {
      const request = {
        method: 'POST',
        url: root + path,
        headers,
        json,
        ...(signal === undefined ? {} : { signal }),
      } as const;
      const ended = watch.begin();
      let mayAgain: ((error: unknown) => Again) | undefined;
      let answered = false;
      try {
        const retries = { retry, key, again: (error: unknown) => mayAgain!(error) };
        const result = await retrying({ ...retries, ...(signal === undefined ? {} : { signal }) }, () =>
          limiter.run(async () => {
            // Its time begins with its turn.
            mayAgain ??= bounded();
            const reply = check(await http.send(request), request.url, names);
            const parsed = parseJson(reply.text);
            if (parsed === undefined) throw new BadReply(notJson(reply, request.url));
            refuseErrorBody(parsed, request.url);
            return read(parsed);
          }),
        );
        gone = false;
        answered = true;
        return result;
      } catch (error) {
        if (isConnection(error)) gone = true;
        throw error;
      } finally {
        ended(answered);
      }
    },
    run: (work) => limiter.run(() => work({ dispatcher: agent, headers, limits })),
    places: limiter.places,
    close() {
      watch.close();
      return agent.destroy();
    },
  };
}

const ATTEMPTS_TIME = 2;

const isConnection = (error: unknown): boolean => error instanceof HttpFailure && error.kind === 'connection';

/**
 * The reply if it is a 2xx. @throws PromptTooLong; UserError when the same request can never succeed; HttpFailure otherwise.
 * The variable of the key is named to the user, never its value.
 */
export function check(reply: HttpReply, url: string, names: Names): HttpReply {
  const { status, text } = reply;
  if (status >= 400) {
    const lengths = tooLong(text);
    if (lengths !== null) throw new PromptTooLong(lengths);
  }
  const hint =
    HINTS[status]?.(names) ?? (/insufficient_quota/.test(text) ? 'the account has no credit left' : undefined);
  const told = answered(reply, url);
  if (hint !== undefined || (status >= 400 && status < 500 && !PASSING.includes(status)))
    throw new UserError(`${told}${hint === undefined ? '' : `; ${hint}`}`);
  if (status >= 400) throw new HttpFailure('status', told, reply);
  return expectOk(reply, url);
}

/** Some servers put an error into a reply that calls itself a success. @throws PromptTooLong, BadReply */
export function refuseErrorBody(json: unknown, url: string): void {
  if (typeof json !== 'object' || json === null || 'choices' in json || !('error' in json) || !json.error) return;
  const text = JSON.stringify(json);
  const lengths = tooLong(text);
  if (lengths !== null) throw new PromptTooLong(lengths);
  throw new BadReply(`${plainUrl(url)} answered with an error (${said(text)})`);
}

/** A page is whole, and no reply of ours; JSON that does not parse was cut. */
export const notJson = (reply: HttpReply, url: string): string =>
  /^\s*[{[]/.test(reply.text)
    ? `${plainUrl(url)} answered with cut or broken JSON`
    : `${answered(reply, url)}, which is no JSON`;

/** Of one request or one moment: 413 is one prompt that is too big, 409 a server that is busy with itself. */
const PASSING: readonly number[] = [408, 409, 413, 425, 429];

/** What the user has told the engine, by name. */
type Names = Pick<Client, 'words' | 'keyName'>;

const ADDRESS = ({ words: { model } }: Names) =>
  `check the address${model === null ? '' : ` and ${model}`}; an address ends before /chat/completions`;
const HINTS: Readonly<Record<number, (names: Names) => string>> = {
  401: ({ keyName }) => `put the key of this server in the environment variable ${keyName}`,
  403: ({ keyName }) => `the key in the environment variable ${keyName} may not use this model`,
  404: ADDRESS,
  405: ADDRESS,
};

/** A server may repeat the key that it was sent: what it says is never read with it. */
export function masked(text: string, apiKeyEnv: string): string {
  const key = process.env[apiKeyEnv];
  return key ? text.replaceAll(key, '***') : text;
}
