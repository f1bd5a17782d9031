/**
 * A retriever behind any server that speaks Search-R1's contract. Queries go out in small requests, each with bounded waits
 * and bounded retries; results are kept. Whatever fails is an InfraError (HttpFailure, SchemaFailure): never an empty result.
 */
import pLimit from 'p-limit';
import type { Hit, Retriever } from '../../retriever.ts';
import { InfraError } from '../../util/error.ts';
import { type Http, openHttp, plainUrl, sendRetrying } from '../../util/http.ts';
import { contentId } from '../../util/id.ts';
import { RETRY, type Retry } from '../../util/retry.ts';
import { INDEX_HEADER } from '../wire.ts';
import { resultCache } from './cache.ts';
import { readHits, SchemaFailure } from './response.ts';

export interface HttpRetrieverOptions {
  /** Of the search itself: `http://127.0.0.1:8000/retrieve`. */
  readonly url: string;
  /** Names corpus and index. Default: the address, for servers that do not say what they serve. */
  readonly fingerprint?: string;
  readonly http?: Http;
  readonly retry?: Retry;
  /** A clock for tests. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Queries a request. */
  readonly batch?: number;
  /** Requests at once. */
  readonly concurrency?: number;
  /** Hits that are kept for queries that come again. */
  readonly cachedHits?: number;
}

export type ClosableRetriever = Retriever & { close(): Promise<void> };

export function httpRetriever(options: HttpRetrieverOptions): ClosableRetriever {
  const { url, http = openHttp(), retry = RETRY, sleep, batch = 64, concurrency = 4, cachedHits = 50_000 } = options;
  const cache = resultCache(cachedHits);
  const limit = pLimit(concurrency);
  const known = options.fingerprint === undefined ? null : contentId(options.fingerprint);

  async function ask(queries: readonly string[], k: number): Promise<readonly (readonly Hit[])[]> {
    const json = { queries: queries.map(wellFormed), topk: k, return_scores: true };
    const key = contentId(JSON.stringify(json));
    const reply = await sendRetrying(http, { method: 'POST', url, json }, key, {
      retry,
      ...(sleep === undefined ? {} : { sleep }),
    });
    const index = reply.header(INDEX_HEADER);
    if (known !== null && index !== undefined && index !== known)
      throw new InfraError(`${plainUrl(url)} serves another index than when it was opened; start again to use it`);
    try {
      return readHits(reply.text, queries.length, k);
    } catch (error) {
      throw error instanceof SchemaFailure ? new SchemaFailure(`${plainUrl(url)}: ${error.message}`) : error;
    }
  }

  return {
    fingerprint: options.fingerprint ?? `http(${plainUrl(url)})`,
    async search(queries, k) {
      if (!Number.isInteger(k) || k < 0) throw new RangeError(`search: k is ${k}; expected a whole number`);
      const found = new Map<string, readonly Hit[]>();
      const missing: string[] = [];
      for (const query of new Set(queries)) {
        // A query without a character finds nothing anywhere; dense servers would answer it with anything.
        const hits = k === 0 || query.trim() === '' ? [] : cache.get(query, k);
        if (hits === undefined) missing.push(query);
        else found.set(query, hits);
      }
      const parts = Array.from({ length: Math.ceil(missing.length / batch) }, (_, i) =>
        missing.slice(i * batch, (i + 1) * batch),
      );
      await Promise.all(
        parts.map((part) =>
          limit(async () => {
            for (const [i, hits] of (await ask(part, k)).entries()) {
              cache.put(part[i]!, k, hits);
              found.set(part[i]!, hits);
            }
          }),
        ),
      );
      return queries.map((query) => found.get(query)!);
    },
    close: () => http.close(),
  };
}

/** Half a surrogate pair breaks encoders that are written in other languages. */
const wellFormed = (text: string): string => Buffer.from(text).toString();
