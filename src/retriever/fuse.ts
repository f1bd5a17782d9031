/**
 * Reciprocal-rank fusion: score(passage) = Σ over rankers of 1 / (k + its rank there, from 1). A ranker that does not list a
 * passage adds nothing.
 */
import type { Ranked, Ranker } from '../retriever.ts';

export interface FuseOptions {
  /** How slowly ranks stop counting. Default 60. */
  readonly k?: number;
  /** Places taken from each ranker; more where more are asked for. Default 100. */
  readonly depth?: number;
}

export function fuse(rankers: readonly Ranker[], { k = 60, depth = 100 }: FuseOptions = {}): Ranker {
  return {
    fingerprint: `rrf(k=${k},depth=${depth},${rankers.map((ranker) => ranker.fingerprint).join(',')})`,
    async rank(queries, wanted) {
      const lists = await Promise.all(rankers.map((ranker) => ranker.rank(queries, Math.max(depth, wanted))));
      return queries.map((_, q) =>
        fused(
          lists.map((ofRanker) => ofRanker[q]!),
          k,
        ).slice(0, wanted),
      );
    },
  };
}

/** Lists best first, one a ranker → all their places, best first; ties go to the earlier place. */
function fused(lists: readonly (readonly Ranked[])[], k: number): Ranked[] {
  const ranks = new Map<number, number[]>();
  for (const list of lists)
    list.forEach(({ at }, i) => {
      const held = ranks.get(at);
      if (held) held.push(i + 1);
      else ranks.set(at, [i + 1]);
    });
  // Summed from the best rank on, so that equal sets of ranks tie exactly whichever ranker gave which.
  const score = (of: readonly number[]): number =>
    of.toSorted((a, b) => a - b).reduce((sum, r) => sum + 1 / (k + r), 0);
  return [...ranks].map(([at, of]) => ({ at, score: score(of) })).sort((a, b) => b.score - a.score || a.at - b.at);
}
