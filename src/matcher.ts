/**
 * Matcher contract: do two answers mean the same? One reflexive, symmetric predicate for rewards, MSV and audit
 * (method.md section 2). Pairs are matched in one call so that a remote judge can batch and cache them.
 */
export interface MatchPair {
  readonly question: string;
  readonly a: string;
  readonly b: string;
}

export interface Matcher {
  readonly name: string;
  match(pairs: readonly MatchPair[]): Promise<readonly boolean[]>;
  /** Requests that these pairs are worth: the distinct ones that need a judge, asked before or not. Absent: it asks nobody. */
  asks?(pairs: readonly MatchPair[]): number;
}
