/** What is measured of every subject of bench/retrieval.ts. */
export interface Measured {
  /** Seconds until the index answers, from the passages or vectors on. */
  readonly build: number;
  /** Megabytes that the process then has above an empty one. Most peers do not keep the texts of passages. */
  readonly memory: number;
  /** Milliseconds a query, one at a time. */
  readonly p50: number;
  readonly p95: number;
  /** Queries a second, one at a time and 64 at once. */
  readonly qps1: number;
  readonly qps64: number;
  /** Places found for every query, where recall is asked for. */
  readonly top: readonly (readonly number[])[];
}

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))]!;
