/**
 * Store contract. Everything that happened is one append-only journal; `once` is the only crash mechanism.
 */

/** JSON that can be journalled. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** One line of journal.jsonl. `at` (ISO time), `ms` (duration), `wall` and `busy` are the only wall-clock fields. */
export interface Event {
  readonly key: string;
  readonly value: Json;
  readonly at: string;
  readonly ms: number;
  /** Milliseconds since the line before it, or since the engine was opened; lines whose work overlapped share the time. */
  readonly wall?: number;
  /** How many of `wall` the engine had work under way. */
  readonly busy?: number;
}

/** Content-addressed bytes: the id is a hash of the content, so equal bytes are stored once. */
export interface Blobs {
  put(bytes: Uint8Array): Promise<string>;
  get(id: string): Promise<Uint8Array>;
  has(id: string): Promise<boolean>;
  /** Removes a blob that nothing refers to any more; unknown ids are ignored. */
  drop(id: string): Promise<void>;
}

/** A named part of a run. Keys are paths: `scope('r1').once('p03', …)` writes key `r1/p03`. */
export interface Scope {
  scope(name: string): Scope;
  /**
   * The journalled value of `key` if there is one; else computes it, appends one line and returns it. Two callers of one
   * key share one computation. A failed computation journals nothing. Blobs must be put before the value that names them.
   * @param after the line is not written before this has come; when it fails, so does this.
   */
  once<T>(key: string, compute: () => Promise<T>, after?: Promise<unknown>): Promise<T>;
  readonly blobs: Blobs;
}
