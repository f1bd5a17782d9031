/** Order of one model's requests by seq_id, in the two ways that servers of the wire have. */
import { contentId } from '../../../util/id.ts';
import { Refusal } from './refusal.ts';
import type { TinkerSettings } from './settings.ts';

/** Repeats are recognised this far back. */
const REMEMBERED = 4096;

export interface Sequence {
  /**
   * The request id of `begin()`, or that of the equal request before it. `settled` tells afterwards whether it failed.
   * @throws Refusal 409; what `begin` throws, and then the request was never there.
   */
  admit(seq: number | null, payload: unknown, begin: () => string): string;
  /** A request failed: where the next one must follow it closely, its number is free again. */
  failed(seq: number | null): void;
}

export function openSequence(mode: TinkerSettings['sequence']): Sequence {
  const seen = new Map<number, { readonly hash: string; readonly id: string }>();
  let next = 1;
  return {
    admit(seq, payload, begin) {
      if (mode === 'strict') {
        if (seq !== next) throw new Refusal(409, `sequence conflict: seq_id is ${seq}; expected ${next}`);
        const id = begin();
        next++;
        return id;
      }
      if (seq === null) return begin();
      const hash = fingerprint(payload);
      const before = seen.get(seq);
      if (before !== undefined && before.hash !== hash)
        throw new Refusal(409, `seq_id ${seq} was used for a request with another payload`);
      if (before !== undefined) return before.id;
      const id = begin();
      seen.set(seq, { hash, id });
      const [oldest] = seen.keys();
      if (seen.size > REMEMBERED) seen.delete(oldest!);
      return id;
    },
    failed(seq) {
      if (seq !== null && next === seq + 1) next = seq;
    },
  };
}

/** Equal for equal JSON, whatever the order of its keys: the two encodings of a request differ in nothing else. */
export const fingerprint = (payload: unknown): string =>
  contentId(
    JSON.stringify(payload, (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  );
