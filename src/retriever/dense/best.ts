/** The k best of many scores: higher first, ties to the earlier place, whatever order they come in. */
import type { Ranked } from '../../retriever.ts';

export interface Best {
  offer(at: number, score: number): void;
  /** Score of the worst of k held; −∞ while there are fewer. */
  floor(): number;
  done(): Ranked[];
}

export function bestOf(k: number): Best {
  const held: Ranked[] = [];
  const before = (at: number, score: number, than: Ranked): boolean =>
    score > than.score || (score === than.score && at < than.at);
  return {
    offer(at, score) {
      if (held.length === k && (k === 0 || !before(at, score, held[k - 1]!))) return;
      let i = held.length;
      while (i > 0 && before(at, score, held[i - 1]!)) i--;
      held.splice(i, 0, { at, score });
      if (held.length > k) held.pop();
    },
    floor: () => (held.length < k ? Number.NEGATIVE_INFINITY : (held[k - 1]?.score ?? Number.POSITIVE_INFINITY)),
    done: () => held,
  };
}
