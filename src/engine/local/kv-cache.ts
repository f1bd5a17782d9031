/**
 * Keys and values of many rows in pages of 64 tokens: one buffer per (layer, k|v, page), row-major, so that any run of
 * neighbouring rows is a tensor without copying.
 */
import type { ModelConfig } from './qwen3.ts';
import { PAGE } from './sample-graph.ts';

export class KvCache {
  /** Floats of one row in one page. */
  readonly rowSize: number;
  readonly #config: ModelConfig;
  #capacity = 0;
  /** buffers[page][2·layer + (k: 0, v: 1)] */
  readonly #buffers: Float32Array[][] = [];

  constructor(config: ModelConfig) {
    this.#config = config;
    this.rowSize = config.kvHeads * PAGE * config.headDim;
  }

  /** Makes room for `rows` rows of `pages` pages, keeping what is there. */
  reserve(rows: number, pages: number): void {
    const streams = 2 * this.#config.layers;
    if (rows > this.#capacity) {
      this.#capacity = Math.max(rows, Math.ceil(this.#capacity * 1.5));
      for (const page of this.#buffers) {
        page.forEach((old, s) => {
          page[s] = new Float32Array(this.#capacity * this.rowSize);
          page[s].set(old);
        });
      }
    }
    while (this.#buffers.length < pages) {
      this.#buffers.push(Array.from({ length: streams }, () => new Float32Array(this.#capacity * this.rowSize)));
    }
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
