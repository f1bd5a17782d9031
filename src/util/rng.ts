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

const LOW = MULTIPLIER & 0xffff;
const HIGH = MULTIPLIER >>> 16;

/** Ten Philox-2x32 rounds: 2 × 32 uniform bits for one counter, as a number in [0, 1) of the upper 53 of them. */
function philox(counter: number, k0: number, k1: number): number {
  let x = counter | 0;
  let y = k1 | 0;
  let key = k0 | 0;
  for (let round = 0; round < 10; round++) {
    // The upper half of MULTIPLIER × x, in halves of 16 bits: no product leaves 32 bits.
    const x0 = x & 0xffff;
    const x1 = x >>> 16;
    const u = HIGH * x0 + ((LOW * x0) >>> 16);
    const v = LOW * x1 + (u & 0xffff);
    const high = (HIGH * x1 + (u >>> 16) + (v >>> 16)) | 0;
    const low = Math.imul(MULTIPLIER, x);
    x = high ^ key ^ y;
    y = low;
    key = (key + WEYL) | 0;
  }
  return ((x >>> 5) * 67108864 + (y >>> 6)) / 9007199254740992;
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
  const uniform = (): number => philox(counter++, k0, k1);
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
