/** How the server behaves where servers of the Tinker wire differ, and its limits. */

export interface Manners {
  /**
   * dedup: a repeated (model, seq_id) is the same request, and a conflict when its payload differs.
   * strict: seq_id must be the next one; anything else is a conflict.
   */
  readonly sequence: 'dedup' | 'strict';
  /** What retrieve_future says while a request runs: 408, or 200 with type try_again. */
  readonly pending: 'timeout' | 'try_again';
  /** Status of an accepted request. */
  readonly accepted: 200 | 202;
  /** May load_weights come after other requests of the model? */
  readonly loadAnyTime: boolean;
}

export const MANNERS = {
  official: { sequence: 'dedup', pending: 'timeout', accepted: 200, loadAnyTime: false },
  tuft: { sequence: 'strict', pending: 'try_again', accepted: 202, loadAnyTime: true },
} as const satisfies Readonly<Record<string, Manners>>;
export type MannersName = keyof typeof MANNERS;

export interface TinkerSettings extends Manners {
  /** How long retrieve_future waits for a result. */
  readonly holdMs: number;
  /** Silence after which a session's models are unloaded; 0 is never. */
  readonly sessionTimeoutMs: number;
  /** Requests under way; more are turned away with 429. */
  readonly maxPending: number;
  readonly maxBodyBytes: number;
  /** Results above this are announced by their size when the client allows that. */
  readonly inlineBytes: number;
  /** How long a result can be fetched. */
  readonly resultMs: number;
}

export const TINKER_SETTINGS: TinkerSettings = {
  ...MANNERS.official,
  holdMs: 20_000,
  sessionTimeoutMs: 300_000,
  maxPending: 1024,
  maxBodyBytes: 64 * 1024 * 1024,
  inlineBytes: 1024 * 1024,
  resultMs: 3_600_000,
};
