/**
 * The search server as a function from requests to replies; it knows no port. It speaks Search-R1's contract:
 *
 *   POST /retrieve {queries, topk?, return_scores?} → {"result": [[{"document": {"id", "contents"}, "score"}]]},
 *                  or [[{"id", "contents"}]] in "result" without scores (the default, as in the original)
 *   GET /health    200 when searches are answered, else 503 with a reason
 *   GET /metrics   Prometheus text
 *
 * Every error is {"error": text}: 400 a body that is wrong, 413 too long, 429 too busy, 503 not ready (yet), 504 too late;
 * 499, in the metrics alone, is a client that hung up.
 */
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Hit } from '../../retriever.ts';
import { readBytes } from '../../util/body.ts';
import { InfraError, messageOf } from '../../util/error.ts';
import { contentId } from '../../util/id.ts';
import { INDEX_HEADER, toContents } from '../wire.ts';
import { readBody } from './body.ts';
import { openGate } from './gate.ts';
import { openMetrics } from './metrics.ts';
import type { SearchIndex } from './probe.ts';
import { searchInSlices } from './slices.ts';

export interface ServerSettings {
  /** Passages a query when a request does not say. */
  readonly topk: number;
  /** Requests searched at once. */
  readonly concurrency: number;
  /** Requests that may wait. */
  readonly queue: number;
  /** From request to reply. */
  readonly deadlineMs: number;
  readonly maxBodyBytes: number;
}

export const SERVER_SETTINGS: ServerSettings = {
  topk: 3,
  concurrency: 4,
  queue: 256,
  deadlineMs: 30_000,
  maxBodyBytes: 8 * 1024 * 1024,
};

export interface SearchApp {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** From now on searches are refused; those under way are finished. */
  drain(): void;
}

type State =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly index: SearchIndex; readonly id: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'closing' };

/** `failed` hears of searches that broke, which the client is told of in few words. */
export function searchApp(
  opening: Promise<SearchIndex>,
  settings: ServerSettings = SERVER_SETTINGS,
  failed: (error: unknown) => void = () => {},
): SearchApp {
  let state: State = { kind: 'loading' };
  opening.then(
    (index) => {
      if (state.kind === 'loading') state = { kind: 'ready', index, id: contentId(index.fingerprint) };
    },
    (error) => {
      if (state.kind === 'loading') state = { kind: 'failed', reason: messageOf(error) };
    },
  );
  const gate = openGate(settings.concurrency, settings.queue);
  const metrics = openMetrics(gate, () => (state.kind === 'ready' ? state.index.passages.size : 0));

  async function retrieve(c: Context): Promise<Response> {
    if (state.kind !== 'ready') return problem(c, 503, reasonOf(state), RETRY_SOON);
    const { index, id } = state;
    const late = AbortSignal.timeout(settings.deadlineMs);
    // Nothing but the connection can fail here.
    const bytes = await readBytes(c.req.raw, settings.maxBodyBytes).catch(() => undefined);
    if (bytes === undefined) return hungUp(c);
    if (bytes === null)
      return problem(c, 413, `the body is longer than ${settings.maxBodyBytes} bytes; send fewer queries at once`);
    const body = readBody(bytes, settings.topk);
    if ('error' in body) return problem(c, 400, body.error);
    const { queries, topk, scores } = body;
    const signal = AbortSignal.any([late, c.req.raw.signal]);
    const found = gate.run(() => searchInSlices(index, queries, topk, signal), signal);
    if (found === null) return problem(c, 429, `${settings.queue} searches are waiting already`, RETRY_SOON);
    try {
      const hits = await unless(late, found);
      metrics.searched(queries.length);
      const shape: (hit: Hit) => object = scores ? scored : document;
      return c.json({ result: hits.map((list) => list.map(shape)) }, 200, { [INDEX_HEADER]: id });
    } catch (error) {
      if (late.aborted) return problem(c, 504, `the search took longer than ${settings.deadlineMs / 1000} s`);
      if (signal.aborted) return hungUp(c);
      failed(error);
      if (!(error instanceof InfraError))
        return problem(c, 500, 'the search failed; the server has said why in its log');
      return problem(c, 503, messageOf(error), RETRY_SOON);
    }
  }

  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    if (state.kind === 'closing') c.header('connection', 'close');
  });
  app.use('/retrieve', async (c, next) => {
    const start = performance.now();
    await next();
    if (c.req.method === 'POST') metrics.answered(c.res.status, (performance.now() - start) / 1000);
  });
  app.post('/retrieve', retrieve);
  app.get('/health', (c) =>
    state.kind === 'ready'
      ? c.json({ status: 'ready', index: state.index.fingerprint, passages: state.index.passages.size })
      : c.json({ status: state.kind, reason: reasonOf(state) }, 503, state.kind === 'loading' ? RETRY_SOON : {}),
  );
  app.get('/metrics', async (c) => c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }));
  for (const [path, method] of ROUTES)
    app.all(path, (c) => problem(c, 405, `${path} takes ${method}, not ${c.req.method}`, { allow: method }));
  app.notFound((c) =>
    problem(c, 404, `nothing here; there is ${ROUTES.map(([path, m]) => `${m} ${path}`).join(', ')}`),
  );
  app.onError((error, c) => {
    failed(error);
    return problem(c, 500, 'the request failed; the server has said why in its log');
  });
  return {
    fetch: (request) => app.fetch(request),
    drain() {
      state = { kind: 'closing' };
    },
  };
}

const ROUTES = [
  ['/retrieve', 'POST'],
  ['/health', 'GET'],
  ['/metrics', 'GET'],
] as const;

const RETRY_SOON = { 'retry-after': '1' };

const problem = (
  c: Context,
  status: ContentfulStatusCode,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Response => c.json({ error }, status, headers);

/** Nobody reads it; the metrics count it. */
const hungUp = (c: Context): Response => problem(c, 499 as ContentfulStatusCode, 'the client went away');

function reasonOf(state: Exclude<State, { kind: 'ready' }>): string {
  switch (state.kind) {
    case 'loading':
      return 'the index is being opened';
    case 'failed':
      return `the index cannot be served: ${state.reason}`;
    case 'closing':
      return 'the server is shutting down';
    default:
      return state satisfies never;
  }
}

const document = ({ passage }: Hit) => ({ id: passage.id, contents: toContents(passage) });

const scored = (hit: Hit) => ({ document: document(hit), score: hit.score });

/** `work`, given up when the signal is aborted; what it does afterwards is nobody's. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
