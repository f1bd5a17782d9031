/**
 * Keyed counter-based random numbers: draw i of the stream named `key` is a pure function of (key, i), so nothing depends
 * on arrival order. Philox-2x32-10 on a 64-bit key hashed from the text (FNV-1a, two lanes).
 */

const MULTIPLIER = 0xd256d193;
const WEYL = 0x9e3779b9;

/** 64-bit hash of a text as two unsigned 32-bit lanes. */
export function hash64(text: string): [number, number] {
  let a = 0x811c9dc5;
  let b = 0xcbf29ce4;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x01000193);
    b = Math.imul(b ^ (c + (a >>> 15)), 0x85ebca6b);
  }
  return [mix(a ^ (b >>> 16)), mix(b ^ a)];
}

function mix(x: number): number {
  let h = x | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Ten Philox-2x32 rounds; returns 2 × 32 uniform bits for one counter. */
function philox(counter: number, k0: number, k1: number): [number, number] {
  let x = counter >>> 0;
  let y = k1;
  let key = k0;
  for (let round = 0; round < 10; round++) {
    const low = Math.imul(MULTIPLIER, x);
    const high = mulHigh(MULTIPLIER, x);
    x = (high ^ key ^ y) >>> 0;
    y = low >>> 0;
    key = (key + WEYL) >>> 0;
  }
  return [x, y];
}

function mulHigh(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const t = a0 * b0;
  const u = a1 * b0 + Math.floor(t / 65536);
  const v = a0 * b1 + (u & 0xffff);
  return (a1 * b1 + Math.floor(u / 65536) + Math.floor(v / 65536)) >>> 0;
}

export interface Rng {
  /** Uniform in [0, 1) with 53 bits. */
  uniform(): number;
  /** Uniform integer in 0..n-1. */
  below(n: number): number;
  pick<T>(items: readonly T[]): T;
  /** Index drawn in proportion to `weights`. */
  weighted(weights: readonly number[]): number;
  /** A new array in random order. */
  shuffle<T>(items: readonly T[]): T[];
  /** Standard normal. */
  normal(): number;
}

/** The stream named by `parts`, joined so that different lists never collide. */
export function rng(...parts: readonly (string | number)[]): Rng {
  const [k0, k1] = hash64(parts.map((p) => `${String(p).length}:${p}`).join('|'));
  let counter = 0;
  const uniform = (): number => {
    const [a, b] = philox(counter++, k0, k1);
    return ((a >>> 5) * 67108864 + (b >>> 6)) / 9007199254740992;
  };
  const below = (n: number): number => Math.floor(uniform() * n);
  return {
    uniform,
    below,
    pick: (items) => items[below(items.length)]!,
    weighted(weights) {
      let u = uniform() * weights.reduce((sum, w) => sum + w, 0);
      for (let i = 0; i < weights.length - 1; i++) {
        u -= weights[i]!;
        if (u < 0) return i;
      }
      return weights.length - 1;
    },
    shuffle(items) {
      const out = [...items];
      for (let i = out.length - 1; i > 0; i--) {
        const j = below(i + 1);
        [out[i], out[j]] = [out[j]!, out[i]!];
      }
      return out;
    },
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  };
}
