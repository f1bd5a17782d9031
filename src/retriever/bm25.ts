/**
 * BM25 over passages (Lucene's idf, no query weighting).
 *
 *   score(q, d) = Σ_{t ∈ q} idf(t) · f(t,d) · (k1 + 1) / (f(t,d) + k1 · (1 − b + b · |d| / avg|d|))
 *   idf(t)      = ln(1 + (N − n(t) + ½) / (n(t) + ½))
 *
 * A word that occurs twice in a query counts twice. Every summand is computed when the index is built and kept as a
 * float32; sums of few float32s are exact in a float64, so equal passages tie exactly, whatever the order of the words.
 */
import type { Hit, Ranker, Retriever } from '../retriever.ts';
import type { Passage } from '../types.ts';
import { collector } from './bm25/collect.ts';
import { corpusHash } from './bm25/digest.ts';
import { type Inverted, searcher } from './bm25/search.ts';
import {
  type Bm25Options,
  type Bm25Settings,
  bm25Fingerprint,
  bm25Settings,
  fieldText,
  idfOf,
  impactOf,
} from './bm25/settings.ts';

export type { Bm25Options } from './bm25/settings.ts';

/** Over an index, wherever it was built. Passages without a word of the query are never ranked. */
export function bm25Ranker(index: Inverted, fingerprint: string): Ranker {
  const topK = searcher(index);
  return {
    fingerprint,
    async rank(queries, k) {
      if (!Number.isInteger(k) || k < 0) throw new RangeError(`search: k is ${k}; expected a whole number`);
      return queries.map((query) => topK(query, k));
    },
  };
}

/** In memory. Passages without a word of the query are never hits, so there may be fewer than k. Throws UserError for bad options. */
export function bm25(passages: readonly Passage[], options: Bm25Options = {}): Retriever {
  const settings = bm25Settings(options);
  const hash = corpusHash();
  for (const passage of passages) hash.add(passage);
  const { fingerprint, rank } = bm25Ranker(invert(passages, settings), bm25Fingerprint(settings, hash.digest()));
  return {
    fingerprint,
    async search(queries, k) {
      const ranked = await rank(queries, k);
      return ranked.map((list) => list.map(({ at, score }): Hit => ({ passage: passages[at]!, score })));
    },
  };
}

function invert(passages: readonly Passage[], settings: Bm25Settings): Inverted {
  const collected = collector();
  for (const passage of passages) collected.add(fieldText[settings.fields](passage));
  const { start, passage, count } = collected.take();
  const lengths = collected.lengths.done();
  const average = lengths.reduce((sum, n) => sum + n, 0) / lengths.length;
  const impact = new Float32Array(passage.length);
  for (let w = 0; w + 1 < start.length; w++) {
    const idf = idfOf(lengths.length, start[w + 1]! - start[w]!);
    for (let slot = start[w]!; slot < start[w + 1]!; slot++)
      impact[slot] = impactOf(idf, count[slot]!, lengths[passage[slot]!]!, average, settings);
  }
  const { words } = collected;
  return { size: passages.length, wordId: (word) => words.get(word), start, passage, impact };
}
