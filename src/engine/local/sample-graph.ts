/**
 * Forward pass of `fresh` new tokens per row over `pages` pages of cached keys and values, as one graph. One new token is
 * decoding, more is prefill. Only the new keys and values and the next-token probabilities come out; the pages belong to
 * the caller.
 */
import { Graph, type Value } from './graph.ts';
import { layoutOf, type ModelConfig, ropeTables } from './qwen3.ts';

export const PAGE = 64;
const MASKED = -1e9;

export interface SampleShape {
  /** New tokens per row. */
  readonly fresh: number;
  /** Cached pages per row. */
  readonly pages: number;
  /** Also return probabilities at temperature 1. */
  readonly tempered: boolean;
}

export const pageName = (kind: 'k' | 'v', layer: number, page: number): string => `${kind}_${layer}_${page}`;

export function sampleGraph(c: ModelConfig, { fresh: T, pages, tempered }: SampleShape): Uint8Array {
  const g = new Graph();
  const { heads: H, kvHeads: Hk, headDim: dh, hiddenSize: d } = c;
  const G = H / Hk;
  const tokens = g.input('tokens', 'int32', [-1]);
  const positions = g.input('positions', 'int64', [-1, T]);
  const last = T === 1 ? null : g.input('last', 'int32', [-1]);
  const past = pages > 0 ? g.input('past_mask', 'float32', [-1, 1, pages * PAGE]) : null;
  const inverseTemperature = tempered ? g.input('inverse_temperature', 'float32', []) : null;
  for (const p of layoutOf(c).parameters) g.input(p.input, 'float32', p.shape);
  const { cos, sin } = ropeTables(c, c.contextLength);
  const table = (name: string, data: Float32Array): Value => g.named(name, 'float32', [c.contextLength, dh / 2], data);
  const [cosT, sinT] = [table('cos', cos), table('sin', sin)];

  const news: Value[] = [];
  let x = g.op('Gather', ['embed', tokens], [-1, d], { axis: 0 });
  for (let l = 0; l < c.layers; l++) {
    const [q, k, v] = g.split(g.linear(g.rms(x, `norm1_${l}`), `qkv_${l}`), [H * dh, Hk * dh, Hk * dh]);
    const heads = (y: Value, n: number): Value =>
      T === 1 ? y : g.transpose(g.reshape(y, [-1, T, n, dh]), [0, 2, 1, 3]);
    const turned = (y: Value, gain: string, n: number): Value =>
      g.rope(g.reshape(g.rms(g.reshape(y, [-1, dh]), gain), [-1, T, n * dh]), positions, cosT, sinT, sinT);
    const query = g.reshape(heads(turned(q!, `qnorm_${l}`, H), H), [-1, G * T, dh]);
    const key = g.reshape(heads(turned(k!, `knorm_${l}`, Hk), Hk), [-1, T, dh]);
    const value = g.reshape(heads(v!, Hk), [-1, T, dh]);
    news.push(g.reshape(key, [1, -1]), g.reshape(value, [1, -1]));
    const cached = Array.from({ length: pages }, (_, j) => ({
      k: g.input(pageName('k', l, j), 'float32', [-1, PAGE, dh]),
      v: g.input(pageName('v', l, j), 'float32', [-1, PAGE, dh]),
    }));
    const out = attend(g, { query, key, value, cached, past, G, T, Hk, dh });
    const merged =
      T === 1
        ? g.reshape(out, [-1, H * dh])
        : g.reshape(g.transpose(g.reshape(out, [-1, H, T, dh]), [0, 2, 1, 3]), [-1, H * dh]);
    x = g.add(x, g.linear(merged, `o_${l}`));
    const [gate, up] = g.split(g.linear(g.rms(x, `norm2_${l}`), `gateup_${l}`), [c.ffSize, c.ffSize]);
    x = g.add(x, g.linear(g.swiglu(gate!, up!), `down_${l}`));
  }
  const ends = last === null ? x : g.op('Gather', [x, last], [-1, d], { axis: 0 });
  const logits = g.matmul(g.rms(ends, 'norm'), 'embed', false, true);
  const shape = [-1, c.vocabSize];
  g.output(g.op('Softmax', [logits], shape, { axis: -1 }), 'probs');
  if (inverseTemperature !== null) {
    g.output(g.op('Softmax', [g.op('Mul', [logits, inverseTemperature], shape)], shape, { axis: -1 }), 'tempered');
  }
  // [2·layers, B·Hk·T·dh]
  g.output(g.op('Concat', news, [2 * c.layers, -1], { axis: 0 }), 'kv');
  return g.encode();
}

interface Attend {
  readonly query: Value;
  readonly key: Value;
  readonly value: Value;
  readonly cached: readonly { readonly k: Value; readonly v: Value }[];
  readonly past: Value | null;
  readonly G: number;
  readonly T: number;
  readonly Hk: number;
  readonly dh: number;
}

/** query [B·Hk, G·T, dh] over cached pages and the new tokens themselves → [B·Hk, G·T, dh]. */
function attend(g: Graph, { query, key, value, cached, past, G, T, Hk, dh }: Attend): Value {
  const scale = dh ** -0.5;
  const rows = G * T;
  let self = g.matmul(query, key, false, true, scale);
  if (T > 1) {
    const causal = new Float32Array(rows * T);
    for (let r = 0; r < rows; r++) for (let s = (r % T) + 1; s < T; s++) causal[r * T + s] = MASKED;
    self = g.op('Add', [self, g.named(`causal_${rows}_${T}`, 'float32', [rows, T], causal)], [-1, rows, T]);
  }
  if (past === null) return g.matmul(g.op('Softmax', [self], [-1, rows, T], { axis: -1 }), value);
  const width = cached.length * PAGE;
  const pageScores = cached.map((page) => g.matmul(query, page.k, false, true, scale));
  const joined = pageScores.length === 1 ? pageScores[0]! : g.op('Concat', pageScores, [-1, rows, width], { axis: 2 });
  const byRow = g.op('Add', [g.reshape(joined, [-1, Hk * rows, width]), past], [-1, Hk * rows, width]);
  const scores = g.op('Concat', [g.reshape(byRow, [-1, rows, width]), self], [-1, rows, width + T], { axis: 2 });
  const parts = g.split(g.op('Softmax', [scores], [-1, rows, width + T], { axis: -1 }), [...cached.map(() => PAGE), T]);
  return cached.reduce(
    (sum, page, j) => g.op('Add', [sum, g.matmul(parts[j]!, page.v)], [-1, rows, dh]),
    g.matmul(parts.at(-1)!, value),
  );
}
