/**
 * AdamW on a flat parameter vector, and Muon for the matrices inside the layers when asked for: momentum, then five
 * Newton-Schulz steps that bring all singular values near 1 (Jordan et al. 2024), run as one graph per matrix shape.
 */
import type { OptimSettings } from '../../engine.ts';
import { groupBy } from '../../util/group.ts';
import { Graph, type Value } from './graph.ts';
import type { Layout, TensorSpec } from './qwen3.ts';
import { type Runtime, type SessionCache, sessionCache } from './runtime.ts';

const NEWTON_SCHULZ = { a: 3.4445, b: -4.775, c: 2.0315, steps: 5 } as const;
const MUON_MOMENTUM = 0.95;

export interface Moments {
  readonly m: Float32Array;
  readonly v: Float32Array;
  step: number;
}

/** Scales `grad` so that its norm is at most `limit` (0 = off); returns the norm before. */
export function clipGradient(grad: Float32Array, limit: number): number {
  let sum = 0;
  for (let i = 0; i < grad.length; i++) sum += grad[i]! * grad[i]!;
  const norm = Math.sqrt(sum);
  if (limit > 0 && norm > limit) {
    const scale = limit / norm;
    for (let i = 0; i < grad.length; i++) grad[i] = grad[i]! * scale;
  }
  return norm;
}

export class Optimizer {
  readonly #layout: Layout;
  readonly #runtime: Runtime;
  readonly #sessions: SessionCache<string>;

  constructor(layout: Layout, runtime: Runtime) {
    this.#layout = layout;
    this.#runtime = runtime;
    this.#sessions = sessionCache(runtime);
  }

  /** Updates `theta` in place from `grad` (already clipped). */
  async step(theta: Float32Array, grad: Float32Array, moments: Moments, settings: OptimSettings): Promise<void> {
    moments.step++;
    const muon = settings.muonRate !== undefined;
    for (const p of this.#layout.parameters) {
      if (!(muon && p.matrix)) adamw(theta, grad, moments, settings, p.offset, p.offset + p.size, p.rate);
    }
    if (!muon) return;
    for (const [key, tensors] of this.#matrices()) await this.#muon(key, tensors, theta, grad, moments, settings);
  }

  /** Matrices by shape. */
  #matrices(): Map<string, TensorSpec[]> {
    const matrices = this.#layout.parameters.filter((p) => p.matrix);
    const inside = this.#layout.tensors.filter((t) =>
      matrices.some((p) => t.offset >= p.offset && t.offset < p.offset + p.size),
    );
    return groupBy(inside, ({ shape }) => shape.join('x'));
  }

  async #muon(
    key: string,
    tensors: readonly TensorSpec[],
    theta: Float32Array,
    grad: Float32Array,
    { m }: Moments,
    { muonRate, weightDecay }: OptimSettings,
  ): Promise<void> {
    const [rows, cols] = tensors[0]!.shape as [number, number];
    const size = rows * cols;
    const direction = new Float32Array(tensors.length * size);
    tensors.forEach((t, n) => {
      let sum = 0;
      for (let i = 0; i < size; i++) {
        const j = t.offset + i;
        m[j] = MUON_MOMENTUM * m[j]! + grad[j]!;
        const d = grad[j]! + MUON_MOMENTUM * m[j]!;
        direction[n * size + i] = d;
        sum += d * d;
      }
      const scale = 1 / (Math.sqrt(sum) + 1e-7);
      for (let i = 0; i < size; i++) direction[n * size + i] = direction[n * size + i]! * scale;
    });
    const session = await this.#sessions.get(key, () => newtonSchulz(rows, cols));
    const { Tensor } = this.#runtime.ort;
    const out = await session.run({ x: new Tensor('float32', direction, [tensors.length, rows, cols]) });
    const update = out.y!.data as Float32Array;
    const rate = muonRate! * Math.sqrt(Math.max(1, rows / cols));
    const keep = 1 - muonRate! * weightDecay;
    tensors.forEach((t, n) => {
      for (let i = 0; i < size; i++) theta[t.offset + i] = theta[t.offset + i]! * keep - rate * update[n * size + i]!;
    });
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }
}

function adamw(
  theta: Float32Array,
  grad: Float32Array,
  { m, v, step }: Moments,
  settings: OptimSettings,
  from: number,
  to: number,
  rate: number,
): void {
  const { beta1, beta2, eps, weightDecay } = settings;
  const lr = settings.learningRate * rate;
  const c1 = 1 / (1 - beta1 ** step);
  const c2 = 1 / (1 - beta2 ** step);
  for (let i = from; i < to; i++) {
    const g = grad[i]!;
    const mi = beta1 * m[i]! + (1 - beta1) * g;
    const vi = beta2 * v[i]! + (1 - beta2) * g * g;
    m[i] = mi;
    v[i] = vi;
    // Decay is relative to the unscaled rate: a large embedding rate is a change of units, not stronger decay.
    theta[i] =
      theta[i]! - lr * ((mi * c1) / (Math.sqrt(vi * c2) + eps)) - settings.learningRate * weightDecay * theta[i]!;
  }
}

/** x [n, rows, cols] of unit Frobenius norm → y of the same shape with singular values near 1. */
function newtonSchulz(rows: number, cols: number): Uint8Array {
  const g = new Graph();
  const { a, b, c, steps } = NEWTON_SCHULZ;
  const input = g.input('x', 'float32', [-1, rows, cols]);
  const tall = rows > cols;
  const [r, k] = tall ? [cols, rows] : [rows, cols];
  const flip = (x: Value, shape: readonly number[]): Value => g.op('Transpose', [x], shape, { perm: [0, 2, 1] });
  let x = tall ? flip(input, [-1, r, k]) : input;
  for (let i = 0; i < steps; i++) {
    const gram = g.matmul(x, x, false, true);
    const square = g.op('Mul', [g.matmul(gram, gram), g.scalar(c)], [-1, r, r]);
    const mix = g.op('Add', [g.op('Mul', [gram, g.scalar(b)], [-1, r, r]), square], [-1, r, r]);
    x = g.op('Add', [g.op('Mul', [x, g.scalar(a)], [-1, r, k]), g.matmul(mix, x)], [-1, r, k]);
  }
  g.output(tall ? flip(x, [-1, rows, cols]) : x, 'y');
  return g.encode();
}
