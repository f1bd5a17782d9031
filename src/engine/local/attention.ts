/**
 * Causal grouped-query attention as one differentiable op, cut into query blocks so that the upper triangle is skipped.
 * The G query heads of a key-value head are folded into the row axis, so keys and values are never repeated.
 */
import type { Graph, Value } from './graph.ts';

const MASKED = -1e9;

/**
 * q [B·Hk, G, T, dh], k and v [B·Hk, T, dh] → [B·Hk, G, T, dh].
 * `blocks` must divide T.
 */
export function attention(g: Graph, q: Value, k: Value, v: Value, blocks: number): Value {
  const [, G, T, dh] = g.shape(q) as [number, number, number, number];
  const size = T / blocks;
  const scale = dh ** -0.5;
  const rows = (x: Value, from: number, to: number, axis: number): Value => {
    const shape = g.shape(x);
    if (from === 0 && to === shape[axis]) return x;
    const cut = shape.map((n, i) => (i === axis ? to - from : n));
    return g.op('Slice', [x, g.ints(from), g.ints(to), g.ints(axis)], cut);
  };
  const fold = (x: Value, n: number): Value => g.op('Reshape', [x, g.ints(-1, G * n, dh)], [-1, G * n, dh]);
  const unfold = (x: Value, n: number): Value => g.op('Reshape', [x, g.ints(-1, G, n, dh)], [-1, G, n, dh]);
  const concat = (xs: readonly Value[]): Value =>
    xs.length === 1 ? xs[0]! : g.op('Concat', xs, [-1, G, T, dh], { axis: 2 });

  const forward = Array.from({ length: blocks }, (_, i) => {
    const [from, to] = [i * size, (i + 1) * size];
    const [qi, ki, vi] = [fold(rows(q, from, to, 2), size), rows(k, 0, to, 1), rows(v, 0, to, 1)];
    const shape = [-1, G * size, to];
    const scores = g.op('Add', [g.matmul(qi, ki, false, true, scale), causalMask(g, G, size, from, to)], shape);
    const p = g.op('Softmax', [scores], shape, { axis: -1 });
    return { from, to, qi, ki, vi, p, out: g.matmul(p, vi) };
  });
  const out = concat(forward.map((f) => unfold(f.out, size)));
  return g.custom(out, [q, k, v], (grad) => {
    const dq: Value[] = [];
    const dk: Value[] = [];
    const dv: Value[] = [];
    for (const f of forward) {
      const go = fold(rows(grad, f.from, f.to, 2), size);
      // Softmax: ds = p·(dp - Σ p·dp), and Σ p·dp over the keys is Σ go·out over the dh channels (Dao et al. 2022).
      const [narrow, wide, column] = [
        [-1, G * size, dh],
        [-1, G * size, f.to],
        [-1, G * size, 1],
      ];
      const product = g.op('Mul', [go, f.out], narrow);
      const total = g.op('ReduceSum', [product, g.ints(-1)], column, { keepdims: 1 });
      const centred = g.op('Sub', [g.matmul(go, f.vi, false, true), total], wide);
      const ds = g.op('Mul', [centred, f.p], wide);
      dq.push(unfold(g.matmul(ds, f.ki, false, false, scale), size));
      dk.push(g.matmul(ds, f.qi, true, false, scale));
      dv.push(g.matmul(f.p, go, true, false));
    }
    // Each block reaches further than the one before.
    const sum = (xs: readonly Value[]): Value =>
      xs.reduce((a, b) => g.op('Add', [pad(g, a, g.shape(b)[1]!), b], g.shape(b)));
    return [concat(dq), sum(dk), sum(dv)];
  });
}

function causalMask(g: Graph, G: number, size: number, from: number, to: number): Value {
  const data = new Float32Array(G * size * to);
  for (let r = 0; r < G * size; r++) {
    for (let c = from + (r % size) + 1; c < to; c++) data[r * to + c] = MASKED;
  }
  return g.named(`causal_${G}_${size}_${from}`, 'float32', [G * size, to], data);
}

/** Rows [B, n, dh] followed by zeros up to [B, T, dh]. */
function pad(g: Graph, x: Value, T: number): Value {
  const [, n, dh] = g.shape(x) as [number, number, number];
  return g.op('Pad', [x, g.ints(0, 0, 0, 0, T - n, 0)], [-1, T, dh], { mode: 'constant' });
}
