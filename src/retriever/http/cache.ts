/** Search results that were used last, as many as fit. Keys are (query, k); an index has a cache of its own. */
import type { Hit } from '../../retriever.ts';

export interface ResultCache {
  get(query: string, k: number): readonly Hit[] | undefined;
  put(query: string, k: number, hits: readonly Hit[]): void;
}

/** @param capacity hits that are kept, over all queries; a query without hits counts as one. */
export function resultCache(capacity: number): ResultCache {
  /** In the order of last use. */
  const kept = new Map<string, readonly Hit[]>();
  let size = 0;
  const weight = (hits: readonly Hit[]): number => Math.max(1, hits.length);
  const take = (key: string): readonly Hit[] | undefined => {
    const hits = kept.get(key);
    if (hits === undefined || !kept.delete(key)) return undefined;
    size -= weight(hits);
    return hits;
  };
  const add = (key: string, hits: readonly Hit[]): void => {
    kept.set(key, hits);
    size += weight(hits);
  };
  const keyOf = (query: string, k: number): string => `${k} ${query}`;
  return {
    get(query, k) {
      const key = keyOf(query, k);
      const hits = take(key);
      if (hits !== undefined) add(key, hits);
      return hits;
    },
    put(query, k, hits) {
      const key = keyOf(query, k);
      take(key);
      add(key, hits);
      for (const oldest of kept.keys()) {
        if (size <= capacity) break;
        take(oldest);
      }
    },
  };
}
