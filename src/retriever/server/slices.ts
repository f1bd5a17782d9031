/** A big batch in slices: BM25 searches without a pause, and /health has to be answered in between. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Hit, Retriever } from '../../retriever.ts';

const SLICE = 16;

/** @throws the reason of `signal` when it is aborted between two slices. */
export async function searchInSlices(
  retriever: Retriever,
  queries: readonly string[],
  k: number,
  signal: AbortSignal,
): Promise<(readonly Hit[])[]> {
  const out: (readonly Hit[])[] = [];
  for (let at = 0; at < queries.length; at += SLICE) {
    if (at > 0) await turn();
    signal.throwIfAborted();
    for (const hits of await retriever.search(queries.slice(at, at + SLICE), k)) out.push(hits);
  }
  return out;
}
