/** Draws one token from a row of probabilities by inverse CDF. */

/** Index of the largest value in probs[from, from + size); the first among equals. */
export function argmax(probs: Float32Array, from: number, size: number): number {
  let best = 0;
  for (let i = 1; i < size; i++) if (probs[from + i]! > probs[from + best]!) best = i;
  return best;
}

/** `u` in [0, 1). With topP < 1 only the smallest set of most likely tokens whose mass reaches topP can be drawn. */
export function draw(probs: Float32Array, from: number, size: number, topP: number, u: number): number {
  if (topP >= 1) {
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
  let mass = 0;
  let count = 0;
  while (count < size && mass < topP) mass += probs[from + order[count++]!]!;
  let rest = u * mass;
  for (let i = 0; i < count; i++) {
    rest -= probs[from + order[i]!]!;
    if (rest < 0) return order[i]!;
  }
  return order[0]!;
}
