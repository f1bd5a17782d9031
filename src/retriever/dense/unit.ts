/** Rows of length 1. */
import { InfraError } from '../../util/error.ts';

/** Scales every row in place. @throws InfraError for a row that has no direction. `who` is named. */
export function normalise(rows: Float32Array, dimension: number, who: string): Float32Array {
  for (let from = 0; from < rows.length; from += dimension) {
    let square = 0;
    for (let j = from; j < from + dimension; j++) square += rows[j]! ** 2;
    if (!(square > 0 && square < Number.POSITIVE_INFINITY))
      throw new InfraError(`${who} gave a vector that cannot be scaled to length 1 (its squared length is ${square})`);
    const scale = 1 / Math.sqrt(square);
    for (let j = from; j < from + dimension; j++) rows[j]! *= scale;
  }
  return rows;
}
