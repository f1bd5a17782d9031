/** The search of one inverted index, in memory, synchronously on one thread. */
import type { Ranked } from '../../retriever.ts';
import { analyze } from '../analyze.ts';

/** The passages that hold word w are `passage[start[w]..start[w + 1])`, in corpus order. */
export interface Inverted {
  /** Number of passages. */
  readonly size: number;
  wordId(word: string): number | undefined;
  readonly start: Uint32Array;
  readonly passage: Uint32Array;
  /** Summand of the score that this word gives to this passage; always > 0. */
  readonly impact: Float32Array;
}

/** Best k places of a query. The score array is reused between calls and all zero outside of them. */
export function searcher({ size, wordId, start, passage, impact }: Inverted) {
  const scores = new Float64Array(size);
  const touched = new Uint32Array(size);
  return (query: string, k: number): readonly Ranked[] => {
    const wanted = new Map<number, number>();
    for (const token of analyze(query)) {
      const id = wordId(token);
      if (id !== undefined) wanted.set(id, (wanted.get(id) ?? 0) + 1);
    }
    let n = 0;
    for (const [id, times] of wanted) {
      const end = start[id + 1]!;
      for (let slot = start[id]!; slot < end; slot++) {
        const at = passage[slot]!;
        if (scores[at] === 0) touched[n++] = at;
        scores[at]! += times * impact[slot]!;
      }
    }
    // Best k so far, best first: most passages fail the first comparison.
    const room = Math.min(k, n);
    const best = new Float64Array(room).fill(-1);
    const who = new Uint32Array(room);
    for (let i = 0; i < n; i++) {
      const at = touched[i]!;
      const score = scores[at]!;
      scores[at] = 0;
      let j = room - 1;
      if (j < 0 || !before(score, at, best[j]!, who[j]!)) continue;
      for (; j > 0 && before(score, at, best[j - 1]!, who[j - 1]!); j--) {
        best[j] = best[j - 1]!;
        who[j] = who[j - 1]!;
      }
      best[j] = score;
      who[j] = at;
    }
    return Array.from(who, (at, i) => ({ at, score: best[i]! }));
  };
}

/** Ranking order: higher score first, ties in corpus order. */
const before = (score: number, at: number, otherScore: number, otherAt: number): boolean =>
  score > otherScore || (score === otherScore && at < otherAt);
