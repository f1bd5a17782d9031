/**
 * Keys and values of many rows in pages of 64 tokens: one buffer per (layer, k|v, page), row-major, so that any run of
 * neighbouring rows is a tensor without copying.
 */
import type { ModelConfig } from './qwen3.ts';
import { PAGE } from './sample-graph.ts';

/**
 * Buffers of caches that are closed, for the next ones: left to the garbage collector they pile up, since it does not see
 * their size. A buffer keeps its old contents; whatever lies beyond a row's length is masked.
 */
export class KvPool {
  #free: Float32Array[] = [];

  /** The smallest free buffer of at least `length` floats, or a new one. */
  take(length: number): Float32Array {
    let best = -1;
    this.#free.forEach((buffer, i) => {
      if (buffer.length >= length && (best < 0 || buffer.length < this.#free[best]!.length)) best = i;
    });
    if (best < 0) {
      // Too small for this cache, they would hardly fit a later one: batches of a run are of a few sizes.
      this.#free = this.#free.filter((buffer) => buffer.length >= length / 2);
      return new Float32Array(length);
    }
    return this.#free.splice(best, 1)[0]!;
  }

  give(buffer: Float32Array): void {
    this.#free.push(buffer);
  }
}

export class KvCache {
  /** Floats of one row in one page. */
  readonly rowSize: number;
  readonly #config: ModelConfig;
  readonly #pool: KvPool;
  #capacity = 0;
  /** buffers[page][2·layer + (k: 0, v: 1)] */
  readonly #buffers: Float32Array[][] = [];

  constructor(config: ModelConfig, pool: KvPool) {
    this.#config = config;
    this.#pool = pool;
    this.rowSize = config.kvHeads * PAGE * config.headDim;
  }

  /** Makes room for `rows` rows of `pages` pages, keeping what is there. */
  reserve(rows: number, pages: number): void {
    const streams = 2 * this.#config.layers;
    if (rows > this.#capacity) {
      this.#capacity = Math.max(rows, Math.ceil(this.#capacity * 1.5));
      for (const page of this.#buffers) {
        page.forEach((old, s) => {
          const wider = this.#pool.take(this.#capacity * this.rowSize);
          wider.set(old.subarray(0, Math.min(old.length, wider.length)));
          this.#pool.give(old);
          page[s] = wider;
        });
      }
    }
    while (this.#buffers.length < pages) {
      this.#buffers.push(Array.from({ length: streams }, () => this.#pool.take(this.#capacity * this.rowSize)));
    }
  }

  /** Hands the buffers back; the cache is of no use afterwards. */
  close(): void {
    for (const buffer of this.#buffers.flat()) this.#pool.give(buffer);
    this.#buffers.length = 0;
  }

  /** Rows [from, to) of one page. */
  view(page: number, stream: number, from: number, to: number): Float32Array {
    return this.#buffers[page]![stream]!.subarray(from * this.rowSize, to * this.rowSize);
  }

  /** Copies the first `length` tokens of a row. */
  copyRow(from: number, to: number, length: number): void {
    if (from === to) return;
    for (let page = 0; page * PAGE < length; page++) {
      for (const buffer of this.#buffers[page]!) {
        buffer.copyWithin(to * this.rowSize, from * this.rowSize, (from + 1) * this.rowSize);
      }
    }
  }

  /** Exchanges two rows of at most `length` tokens. */
  swapRows(a: number, b: number, length: number): void {
    for (let page = 0; page * PAGE < length; page++) {
      for (const buffer of this.#buffers[page]!) {
        const kept = buffer.slice(a * this.rowSize, (a + 1) * this.rowSize);
        buffer.copyWithin(a * this.rowSize, b * this.rowSize, (b + 1) * this.rowSize);
        buffer.set(kept, b * this.rowSize);
      }
    }
  }

  /**
   * Stores `count` new tokens of a row at positions start, start + 1, …. `fresh` is the graph's kv output
   * [2·layers, batch, Hk, T, dh]; `index` is the row's place in that batch.
   */
  write(row: number, start: number, count: number, fresh: Float32Array, index: number, batch: number, T: number): void {
    const { kvHeads: Hk, headDim: dh, layers } = this.#config;
    for (let s = 0; s < 2 * layers; s++) {
      for (let h = 0; h < Hk; h++) {
        const source = ((s * batch + index) * Hk + h) * T * dh;
        for (let i = 0; i < count; i++) {
          const position = start + i;
          const buffer = this.#buffers[Math.floor(position / PAGE)]![s]!;
          const target = row * this.rowSize + (h * PAGE + (position % PAGE)) * dh;
          const from = source + i * dh;
          for (let k = 0; k < dh; k++) buffer[target + k] = fresh[from + k]!;
        }
      }
    }
  }
}
