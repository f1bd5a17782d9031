/** Opens a search server: waits until it is ready, asks what it serves, and tries one query, so that a wrong address shows at once. */
import { InfraError, UserError } from '../../util/error.ts';
import { checkUrl, type Http, HttpFailure, type HttpReply, httpAgain, openHttp, plainUrl } from '../../util/http.ts';
import { RETRY, retrying } from '../../util/retry.ts';
import { type ClosableRetriever, type HttpRetrieverOptions, httpRetriever } from './client.ts';
import { SchemaFailure } from './response.ts';

export interface OpenHttpOptions extends Omit<HttpRetrieverOptions, 'fingerprint'> {
  /** How long a server that is opening its index is waited for. */
  readonly patienceMs?: number;
}

const POLL_MS = 500;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @param options.url the server (`http://host:8000`) or its search (`http://host:8000/retrieve`).
 * @throws UserError when the address is wrong or nothing there speaks the contract; InfraError when the server is down.
 */
export async function openHttpRetriever(options: OpenHttpOptions): Promise<ClosableRetriever> {
  const parsed = checkUrl(options.url, 'search server');
  const base = `${parsed.origin}${parsed.pathname.replace(/\/(retrieve\/?)?$/, '')}`;
  const url = `${base}/retrieve${parsed.search}`;
  const http = options.http ?? openHttp();
  try {
    const fingerprint = await askIndex(http, `${base}/health`, options);
    const retriever = httpRetriever({ ...options, url, http, ...(fingerprint === null ? {} : { fingerprint }) });
    await retriever.search(['test'], 1);
    return retriever;
  } catch (error) {
    await http.close();
    const refused = error instanceof HttpFailure && [400, 401, 403, 404, 405, 422].includes(error.status ?? 0);
    if (refused || error instanceof SchemaFailure) {
      throw new UserError(
        `${(error as Error).message}. Give the address of a server that speaks Search-R1's /retrieve, like "crossfold serve-search".`,
        { cause: error },
      );
    }
    throw error;
  }
}

/** What our own server says it serves; null for servers without such a /health. */
async function askIndex(http: Http, url: string, options: OpenHttpOptions): Promise<string | null> {
  const { patienceMs = 120_000, retry = RETRY, sleep = wait } = options;
  const retries = { retry, key: url, again: httpAgain, sleep };
  for (let waited = 0; ; waited += POLL_MS) {
    const said = health(await retrying(retries, () => http.send({ method: 'GET', url })));
    if (said === null) return null;
    if (said.index !== undefined) return said.index;
    if (said.status !== 'loading') throw new InfraError(`${plainUrl(url)}: ${said.reason ?? said.status}`);
    if (waited >= patienceMs)
      throw new InfraError(`${plainUrl(url)}: the index is not open after ${patienceMs / 1000} s; try again later`);
    await sleep(POLL_MS);
  }
}

interface Health {
  readonly status: string;
  readonly index?: string;
  readonly reason?: string;
}

const LONGEST_FINGERPRINT = 2000;

function health({ text }: HttpReply): Health | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof body !== 'object' || body === null) return null;
  const { status, index, reason } = body as Readonly<Record<string, unknown>>;
  // Other servers say "ok" or "healthy".
  if (typeof status !== 'string' || !['ready', 'loading', 'failed', 'closing'].includes(status)) return null;
  const named = status === 'ready' && typeof index === 'string' && index.length <= LONGEST_FINGERPRINT;
  if (status === 'ready' && !named) return null;
  return {
    status,
    ...(named ? { index } : {}),
    ...(typeof reason === 'string' ? { reason: reason.slice(0, LONGEST_FINGERPRINT) } : {}),
  };
}
