/** Draws one token from a row of probabilities by inverse CDF. */

/** Index of the largest value in probs[from, from + size); the first among equals. */
export function argmax(probs: Float32Array, from: number, size: number): number {
  let best = 0;
  for (let i = 1; i < size; i++) if (probs[from + i]! > probs[from + best]!) best = i;
  return best;
}

/**
 * `u` in [0, 1). Only the `topK` most likely tokens can be drawn, and of those only the smallest set of most likely ones
 * whose share of their mass reaches topP.
 */
export function draw(
  probs: Float32Array,
  from: number,
  size: number,
  { topP, topK = size }: { readonly topP: number; readonly topK?: number | undefined },
  u: number,
): number {
  if (topP >= 1 && topK >= size) {
    let total = 0;
    for (let i = 0; i < size; i++) total += probs[from + i]!;
    let rest = u * total;
    for (let i = 0; i < size; i++) {
      rest -= probs[from + i]!;
      if (rest < 0) return i;
    }
    return argmax(probs, from, size);
  }
  const order = Array.from({ length: size }, (_, i) => i).sort((a, b) => probs[from + b]! - probs[from + a]! || a - b);
  const most = Math.min(size, topK);
  const total = topK >= size ? 1 : order.slice(0, most).reduce((sum, token) => sum + probs[from + token]!, 0);
  let mass = 0;
  let count = 0;
  while (count < most && (topP >= 1 || mass < topP * total)) mass += probs[from + order[count++]!]!;
  let rest = u * mass;
  for (let i = 0; i < count; i++) {
    rest -= probs[from + order[i]!]!;
    if (rest < 0) return order[i]!;
  }
  return order[0]!;
}
