/**
 * One HTTP client for every server we talk to: each wait and each size has a limit, redirects are not followed, and what
 * goes wrong is a typed InfraError. Replies are untrusted text.
 */
import { Agent, type Dispatcher, request as undiciRequest } from 'undici';
import { codeOf } from './disk.ts';
import { InfraError, messageOf, UserError } from './error.ts';
import { type Again, RETRY, type Retry, retrying } from './retry.ts';
import { said } from './said.ts';

export interface HttpLimits {
  /** Milliseconds until the connection stands. */
  readonly connectMs: number;
  /** Milliseconds until the reply is whole, connecting included. */
  readonly totalMs: number;
  /** Longest reply body. */
  readonly maxBytes: number;
}

export const HTTP_LIMITS: HttpLimits = { connectMs: 5_000, totalMs: 60_000, maxBytes: 64 * 1024 * 1024 };

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, where it is no JSON. */
  readonly body?: { readonly type: string; readonly bytes: Uint8Array };
  readonly signal?: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  /** Value of a header by its lower-case name. */
  header(name: string): string | undefined;
  readonly bytes: Uint8Array;
  /** The bytes as UTF-8. */
  readonly text: string;
}

/** connection: nobody there, or it broke. status: answered, not with 2xx. too-large: over maxBytes. */
export type HttpFailureKind = 'connection' | 'timeout' | 'status' | 'too-large';

export class HttpFailure extends InfraError {
  readonly kind: HttpFailureKind;
  /** HTTP status of the reply; null when there was none. */
  readonly status: number | null;
  /** What the server asked for with Retry-After. */
  readonly afterMs: number | null;

  constructor(kind: HttpFailureKind, message: string, reply?: HttpReply, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.status = reply?.status ?? null;
    this.afterMs = reply === undefined ? null : retryAfterMs(reply.header('retry-after'), Date.now());
  }
}

export interface Http {
  /** A reply of any status. @throws HttpFailure; the reason of `signal` when that is aborted. */
  send(request: HttpRequest): Promise<HttpReply>;
  close(): Promise<void>;
}

/** Connections are kept and reused; `dispatcher` stands in for the network in tests. */
export function openHttp(limits: HttpLimits = HTTP_LIMITS, dispatcher?: Dispatcher): Http {
  const { connectMs, totalMs, maxBytes } = limits;
  const agent =
    dispatcher ??
    new Agent({
      connect: { timeout: connectMs },
      headersTimeout: totalMs,
      bodyTimeout: totalMs,
      maxResponseSize: maxBytes,
      keepAliveTimeout: 4_000,
    });
  return {
    async send({ method, url, headers = {}, json, body, signal }) {
      const late = AbortSignal.timeout(totalMs);
      try {
        const reply = await undiciRequest(url, {
          dispatcher: agent,
          method,
          headers: {
            accept: 'application/json',
            ...(json === undefined ? {} : JSON_TYPE),
            ...typeOf(body),
            ...headers,
          },
          body: body?.bytes ?? (json === undefined ? null : JSON.stringify(json)),
          signal: signal === undefined ? late : AbortSignal.any([signal, late]),
        });
        const bytes = new Uint8Array(await reply.body.arrayBuffer());
        return {
          status: reply.statusCode,
          header: (name) => first(reply.headers[name]),
          bytes,
          get text() {
            return utf8.decode(bytes);
          },
        };
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        // Our mistake, not the server's.
        if (codeOf(error) === 'UND_ERR_INVALID_ARG') throw error;
        throw failureOf(error, url, late.aborted, limits);
      }
    },
    async close() {
      if (dispatcher === undefined) await agent.close();
    },
  };
}

/** The reply if it is a 2xx. @throws HttpFailure */
export function expectOk(reply: HttpReply, url: string): HttpReply {
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw new HttpFailure('status', answered(reply, url), reply);
}

/** `http://127.0.0.1:8000/retrieve answered 404 (text/html: Not Found)`: for messages. */
export function answered(reply: HttpReply, url: string): string {
  const words = said(reply.text, reply.header('content-type'));
  return `${plainUrl(url)} answered ${reply.status}${words === '' ? '' : ` (${words})`}`;
}

/** May the same request succeed later? 408, 425, 429, 5xx but for 501, broken connections and timeouts. */
export function httpAgain(error: unknown): Again {
  if (!(error instanceof HttpFailure)) return null;
  const { kind, status, afterMs } = error;
  const passing = status !== null && ([408, 425, 429].includes(status) || (status >= 500 && status !== 501));
  return kind === 'connection' || kind === 'timeout' || passing ? { afterMs } : null;
}

/** A 2xx reply, after bounded retries. `key` names the jitter. @throws HttpFailure, the last one. */
export const sendRetrying = (
  http: Http,
  request: HttpRequest,
  key: string,
  { retry = RETRY, sleep }: { readonly retry?: Retry; readonly sleep?: (ms: number) => Promise<void> } = {},
): Promise<HttpReply> =>
  retrying(
    {
      retry,
      key,
      again: httpAgain,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      ...(sleep === undefined ? {} : { sleep }),
    },
    async () => expectOk(await http.send(request), request.url),
  );

/** Milliseconds that a Retry-After header asks for: seconds or a date. Null when it is none. */
export function retryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined || value.trim() === '') return null;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** An address without what may be secret in it, for messages. */
export function plainUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** @throws UserError unless `url` is an http(s) address without a password. `name` is the flag or field it came from. */
export function checkUrl(url: string, name: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new UserError(`${name} is "${url}"; expected an address like http://127.0.0.1:8000`);
  if (parsed.username !== '' || parsed.password !== '')
    throw new UserError(`${name}: an address must not hold a password; leave out what stands before the @`);
  return parsed;
}

const utf8 = new TextDecoder();
const JSON_TYPE = { 'content-type': 'application/json' };

const typeOf = (body: HttpRequest['body']): Record<string, string> =>
  body === undefined ? {} : { 'content-type': body.type };

const first = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

const TIMEOUTS = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'];

function failureOf(error: unknown, url: string, late: boolean, limits: HttpLimits): HttpFailure {
  const where = plainUrl(url);
  const code = codeOf(error);
  if (late || TIMEOUTS.includes(code)) {
    const ms = code === 'UND_ERR_CONNECT_TIMEOUT' ? limits.connectMs : limits.totalMs;
    return new HttpFailure('timeout', `${where} did not answer within ${ms / 1000} s`, undefined, error);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new HttpFailure('too-large', `${where} answered with more than ${limits.maxBytes} bytes`, undefined, error);
  const why = messageOf(error) === '' ? code : messageOf(error);
  return new HttpFailure('connection', `${where} cannot be reached (${why})`, undefined, error);
}
