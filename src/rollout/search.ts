/** The searches of one turn of a batch, run in one retriever call. */
import type { Hit, Retriever } from '../retriever.ts';
import { InfraError } from '../util/error.ts';

export interface SearchCall {
  readonly queries: readonly string[];
}

export type Outcome =
  /** Hits of all queries, query by query, each passage once. */
  { readonly queries: readonly string[]; readonly hits: readonly Hit[] } | { readonly error: string };

/**
 * One outcome per call. An outage that the retriever's own retries did not cure is every call's outcome: it is never an
 * empty result. Any other failure is a bug and is thrown.
 */
export async function searchAll(calls: readonly SearchCall[], retriever: Retriever, k: number): Promise<Outcome[]> {
  const queries = [...new Set(calls.flatMap((call) => call.queries))];
  if (queries.length === 0) return [];
  try {
    const results = await retriever.search(queries, k);
    const byQuery = new Map(queries.map((query, i) => [query, results[i]!]));
    return calls.map((call) => ({
      queries: call.queries,
      hits: distinct(call.queries.flatMap((q) => byQuery.get(q)!)),
    }));
  } catch (error) {
    if (!(error instanceof InfraError)) throw error;
    return calls.map(() => ({ error: error.message }));
  }
}

const distinct = (hits: readonly Hit[]): Hit[] => [...new Map(hits.map((hit) => [hit.passage.id, hit])).values()];
