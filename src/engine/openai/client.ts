/**
 * Requests to one server: bounded concurrency, bounded retries, a limit on every wait. A failure is one of four: the prompt
 * is too long, the settings are wrong (thrown as UserError), it may pass (retried), or it stands.
 */
import { Agent } from 'undici';
import { UserError } from '../../util/error.ts';
import {
  expectOk,
  HttpFailure,
  type HttpLimits,
  type HttpReply,
  httpAgain,
  openHttp,
  plainUrl,
} from '../../util/http.ts';
import { type Again, type Retry, retrying } from '../../util/retry.ts';
import { type TooLong, tooLong } from './context-length.ts';
import { openLimiter } from './limiter.ts';
import { parseJson } from './server.ts';
import { BadReply, type Body } from './wire.ts';

export interface ClientOptions {
  /** Root of the API. */
  readonly root: string;
  readonly apiKeyEnv: string;
  readonly concurrency: number;
  readonly limits: HttpLimits;
  readonly retry: Retry;
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
  /** Environment variable of the key. */
  readonly keyName: string;
  /** One attempt; a reply of any status. @throws HttpFailure */
  get(path: string): Promise<HttpReply>;
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

export function openClient({ root, apiKeyEnv, concurrency, limits, retry }: ClientOptions): Client {
  const agent = new Agent({
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.totalMs,
    bodyTimeout: limits.totalMs,
    maxResponseSize: limits.maxBytes,
  });
  const http = openHttp(limits, agent);
  const limiter = openLimiter(concurrency, (error) => error instanceof HttpFailure && error.status === 429);
  const key = process.env[apiKeyEnv];
  const headers = key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` };
  /** The last request found nobody there, retries and all: others need not wait as long to learn it. */
  let gone = false;

  const again = (error: unknown): Again => {
    if (error instanceof BadReply) return { afterMs: null };
    return gone && isConnection(error) ? null : httpAgain(error);
  };

  return {
    root,
    keyName: apiKeyEnv,
    get: (path) => http.send({ method: 'GET', url: root + path, headers }),
    post: (path, json, key) =>
      retrying({ retry, key, again }, async () => {
        const reply = await http.send({ method: 'POST', url: root + path, headers, json });
        return reply.status >= 500 || PASSING.includes(reply.status) ? check(reply, root + path, apiKeyEnv) : reply;
      }),
    async ask(path, json, key, read, signal) {
      const request = {
        method: 'POST',
        url: root + path,
        headers,
        json,
        ...(signal === undefined ? {} : { signal }),
      } as const;
      try {
        const result = await retrying({ retry, key, again, ...(signal === undefined ? {} : { signal }) }, () =>
          limiter.run(async () => {
            const reply = check(await http.send(request), request.url, apiKeyEnv);
            const parsed = parseJson(reply.text);
            if (parsed === undefined) throw new BadReply(`${plainUrl(request.url)} answered with cut or broken JSON`);
            return read(parsed);
          }),
        );
        gone = false;
        return result;
      } catch (error) {
        if (isConnection(error)) gone = true;
        throw error;
      }
    },
    run: (work) => limiter.run(() => work({ dispatcher: agent, headers, limits })),
    places: limiter.places,
    close: () => agent.destroy(),
  };
}

const isConnection = (error: unknown): boolean => error instanceof HttpFailure && error.kind === 'connection';

/**
 * The reply if it is a 2xx. @throws PromptTooLong; UserError when the same request can never succeed; HttpFailure otherwise.
 * `apiKeyEnv` is named to the user, never its value.
 */
export function check(reply: HttpReply, url: string, apiKeyEnv: string): HttpReply {
  const { status, text } = reply;
  if (status >= 400) {
    const lengths = tooLong(text);
    if (lengths !== null) throw new PromptTooLong(lengths);
  }
  const hint = HINTS[status] ?? (/insufficient_quota/.test(text) ? 'the account has no credit left' : undefined);
  if (hint !== undefined || (status >= 400 && status < 500 && !PASSING.includes(status)))
    throw new UserError(
      `${plainUrl(url)} answered ${status}${said(text)}${hint === undefined ? '' : `; ${hint.replace('KEY', apiKeyEnv)}`}`,
    );
  return expectOk(reply, url);
}

/** Of one request or one moment: 413 is one prompt that is too big, 409 a server that is busy with itself. */
const PASSING: readonly number[] = [408, 409, 413, 425, 429];

const HINTS: Readonly<Record<number, string>> = {
  401: 'put the key of this server in the environment variable KEY',
  403: 'the key in the environment variable KEY may not use this model',
  404: 'check the address and --model; an address ends before /chat/completions',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would obey
const UNPRINTABLE = /[\s\u0000-\u001f\u007f-\u009f]+/g;

/** What the server says is wrong, one line. */
function said(text: string): string {
  const body = parseJson(text) as
    | { error?: { message?: unknown } | string; message?: unknown; detail?: unknown }
    | undefined;
  const error = typeof body?.error === 'object' ? body.error?.message : body?.error;
  const message = error ?? body?.message ?? body?.detail ?? text;
  const line = (typeof message === 'string' ? message : JSON.stringify(message))
    .replace(UNPRINTABLE, ' ')
    .trim()
    .slice(0, 300);
  return line === '' ? '' : ` (${line})`;
}
