/** Retriever contract. An outage is a thrown InfraError (util/error), never an empty result. */
import type { Passage } from './types.ts';

export interface Hit {
  readonly passage: Passage;
  readonly score: number;
}

export interface Retriever {
  /** Names corpus, index and settings that may change results. */
  readonly fingerprint: string;
  /** For each query its k best passages, best first; ties go to the passage that comes first in the corpus. */
  search(queries: readonly string[], k: number): Promise<readonly (readonly Hit[])[]>;
}
