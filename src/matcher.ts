/**
 * Matcher contract: do two answers mean the same? One reflexive, symmetric predicate for rewards, MSV and audit
 * (method.md section 2). Pairs are matched in one call so that a remote judge can batch and cache them.
 */
export interface MatchPair {
  readonly question: string;
  readonly a: string;
  readonly b: string;
}

export interface Asked {
  /** The distinct pairs that need a judge, asked before or not. */
  readonly judged: number;
  /** Of these, pairs that it gave no readable verdict on: what hangs on them is left out, as after an outage. */
  readonly unread: number;
}

/** Null: nobody could tell; what hangs on it is left out, as what is lost to an outage. */
export type Match = boolean | null;

export interface Matcher {
  readonly name: string;
  match(pairs: readonly MatchPair[]): Promise<readonly Match[]>;
  /** What pairs that were matched asked a judge. Absent: it asks nobody. */
  asked?(pairs: readonly MatchPair[]): Asked;
}
