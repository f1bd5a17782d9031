/** The items of each key in their order, keys in order of first appearance. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const held = groups.get(key);
    if (held) held.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
