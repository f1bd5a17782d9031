/** A Uint32Array that is appended to. */
export interface Growing {
  push(item: number): void;
  readonly length: number;
  /** What was pushed, without a copy; good until the next push or clear. */
  done(): Uint32Array;
  /** Empty again; the room is kept. */
  clear(): void;
}

export function growing(room = 1024): Growing {
  let items = new Uint32Array(room);
  let n = 0;
  return {
    push(item) {
      if (n === items.length) {
        const wider = new Uint32Array(2 * n);
        wider.set(items);
        items = wider;
      }
      items[n++] = item;
    },
    get length() {
      return n;
    },
    done: () => items.subarray(0, n),
    clear() {
      n = 0;
    },
  };
}
