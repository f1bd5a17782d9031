/** Retriever contract. An outage is a thrown InfraError (util/error), never an empty result. */
import type { Passage } from './types.ts';

export interface Hit {
  readonly passage: Passage;
  readonly score: number;
}

/** A passage by its place in the corpus, 0 for the first. */
export interface Ranked {
  readonly at: number;
  readonly score: number;
}

/** The half of a retriever that knows scores and no text. */
export interface Ranker {
  readonly fingerprint: string;
  /** For each query its k best places, best first; ties go to the earlier place. */
  rank(queries: readonly string[], k: number): Promise<readonly (readonly Ranked[])[]>;
}

/** Passages by place, in corpus order; they may lie on disk. */
export interface PassageStore {
  readonly size: number;
  get(places: readonly number[]): Promise<readonly Passage[]>;
}

/** Texts to unit vectors. Queries and passages may carry different prefixes (E5: "query: ", "passage: "). */
export interface Encoder {
  readonly name: string;
  readonly dimension: number;
  readonly prefixes: { readonly query: string; readonly passage: string };
  /** Row-major, texts × dimension, each row of length 1. Adds the prefix itself. @throws InfraError on an outage. */
  embed(texts: readonly string[], as: 'query' | 'passage'): Promise<Float32Array>;
}

export interface Retriever {
  /** Names corpus, index and settings that may change results. */
  readonly fingerprint: string;
  /** For each query its k best passages, best first; ties go to the passage that comes first in the corpus. */
  search(queries: readonly string[], k: number): Promise<readonly (readonly Hit[])[]>;
}
