/**
 * A graph under construction: ordinary ONNX ops plus a tape for reverse-mode differentiation. Values are names; shapes are
 * tracked with at most one dynamic dimension (-1, the batch) per value, so one graph serves every batch size.
 */
import {
  type Attribute,
  type DType,
  encodeModel,
  type Initializer,
  type Node,
  type Shape,
  type ValueInfo,
} from './onnx.ts';

export type Value = string;
/** A gradient, or how to add it to what other users of the value gave. */
type Contribution = Value | null | ((sum: Value | undefined) => Value);
type Vjp = (grad: Value) => readonly Contribution[];

const RMS_EPS = 1e-6;

export class Graph {
  readonly #nodes: Node[] = [];
  readonly #inputs: ValueInfo[] = [];
  readonly #outputs: ValueInfo[] = [];
  readonly #initializers: Initializer[] = [];
  readonly #constants = new Map<string, Value>();
  readonly #shapes = new Map<Value, Shape>();
  readonly #tape: { readonly out: Value; readonly ins: readonly Value[]; readonly vjp: Vjp }[] = [];
  #count = 0;

  shape(value: Value): Shape {
    const shape = this.#shapes.get(value);
    if (!shape) throw new Error(`graph value ${value} has no shape`);
    return shape;
  }

  input(name: string, type: DType, shape: Shape): Value {
    this.#inputs.push({ name, type, shape });
    this.#shapes.set(name, shape);
    return name;
  }

  output(value: Value, name: string): void {
    const shape = this.shape(value);
    this.#nodes.push({ op: 'Identity', inputs: [value], outputs: [name], attributes: {}, domain: '' });
    this.#outputs.push({ name, type: 'float32', shape });
  }

  /** Adds a node with one output per shape. */
  ops(
    op: string,
    inputs: readonly Value[],
    shapes: readonly Shape[],
    attributes: Readonly<Record<string, Attribute>> = {},
    domain: Node['domain'] = '',
  ): Value[] {
    const outputs = shapes.map((shape) => {
      const name = `${op}_${this.#count++}`;
      this.#shapes.set(name, shape);
      return name;
    });
    this.#nodes.push({ op, inputs, outputs, attributes, domain });
    return outputs;
  }
  op(
    op: string,
    inputs: readonly Value[],
    shape: Shape,
    attributes: Readonly<Record<string, Attribute>> = {},
    domain: Node['domain'] = '',
  ): Value {
    return this.ops(op, inputs, [shape], attributes, domain)[0]!;
  }

  /** A constant that exists once per `key`. */
  named(key: string, type: DType, shape: Shape, data: Initializer['data']): Value {
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    const name = `const_${this.#count++}`;
    this.#initializers.push({ name, type, shape, data });
    this.#shapes.set(name, shape);
    this.#constants.set(key, name);
    return name;
  }
  scalar(x: number): Value {
    return this.named(`f${x}`, 'float32', [], new Float32Array([x]));
  }
  ints(...xs: readonly number[]): Value {
    return this.named(
      `i${xs}`,
      'int64',
      [xs.length],
      BigInt64Array.from(xs, (x) => BigInt(x)),
    );
  }
  int64(value: Value): Value {
    return this.op('Cast', [value], this.shape(value), { to: 7 });
  }

  // Ops below without "Vjp" in their comment are recorded on the tape.
  #record(out: Value, ins: readonly Value[], vjp: Vjp): Value {
    this.#tape.push({ out, ins, vjp });
    return out;
  }
  /** For composite ops that bring their own derivative. */
  custom(out: Value, ins: readonly Value[], vjp: Vjp): Value {
    return this.#record(out, ins, vjp);
  }

  /** Same-shape sum. */
  add(a: Value, b: Value): Value {
    return this.#record(this.op('Add', [a, b], this.shape(a)), [a, b], (g) => [g, g]);
  }

  /** Batched a·b with optional transposes; not recorded. */
  matmul(a: Value, b: Value, transA = false, transB = false, alpha = 1): Value {
    const [sa, sb] = [this.shape(a), this.shape(b)];
    const n = sa.length;
    const rows = transA ? sa[n - 1]! : sa[n - 2]!;
    const cols = transB ? sb[sb.length - 2]! : sb[sb.length - 1]!;
    const shape = [...sa.slice(0, n - 2), rows, cols];
    if (!transA && !transB && alpha === 1) return this.op('MatMul', [a, b], shape);
    const attributes = { transA: Number(transA), transB: Number(transB), alpha: { float: alpha } };
    return this.op('FusedMatMul', [a, b], shape, attributes, 'com.microsoft');
  }

  /** x [M, in] · wᵀ with w [out, in] (the Hugging Face layout), plus a value of the result's shape → [M, out]. */
  linear(x: Value, w: Value, plus?: Value): Value {
    const out =
      plus === undefined
        ? this.matmul(x, w, false, true)
        : this.op('Gemm', [x, w, plus], this.shape(plus), { transB: 1 });
    const ins = plus === undefined ? [x, w] : [x, w, plus];
    const shape = this.shape(x);
    return this.#record(out, ins, (g) => [
      (sum) => (sum === undefined ? this.matmul(g, w) : this.op('Gemm', [g, w, sum], shape)),
      this.matmul(g, x, true, false),
      g,
    ]);
  }

  /** RMSNorm over the last axis. x [M, d] (2-d), gain [d]. */
  rms(x: Value, gain: Value): Value {
    const shape = this.shape(x);
    const [d, column] = [shape.at(-1)!, [...shape.slice(0, -1), 1]];
    const attributes = { axis: -1, epsilon: { float: RMS_EPS }, stash_type: 1 };
    const [y, inv] = this.ops('SimplifiedLayerNormalization', [x, gain], [shape, column], attributes) as [Value, Value];
    // With c = inv³·Σ g·gain·x / d:  dx = g·gain·inv - x·c,  dgain = Σ_rows g·x·inv. Both sums are products with g·x.
    return this.#record(y, [x, gain], (g) => {
      const gx = this.op('Mul', [g, x], shape);
      const gainGrad = this.op('Reshape', [this.matmul(inv, gx, true, false), this.ints(d)], [d]);
      const sum = this.matmul(gx, this.op('Reshape', [gain, this.ints(d, 1)], [d, 1]), false, false, 1 / d);
      const cube = this.op('Mul', [this.op('Mul', [inv, inv], column), inv], column);
      const along = this.op('Mul', [x, this.op('Mul', [sum, cube], column)], shape);
      const across = this.op('Mul', [this.op('Mul', [g, gain], shape), inv], shape);
      return [this.op('Sub', [across, along], shape), gainGrad];
    });
  }

  /** silu(gate) · up, both [M, f]. */
  swiglu(gate: Value, up: Value): Value {
    const shape = this.shape(gate);
    const sigma = this.op('Sigmoid', [gate], shape);
    const silu = this.op('Mul', [gate, sigma], shape);
    const out = this.op('Mul', [silu, up], shape);
    return this.#record(out, [gate, up], (g) => {
      // silu' = σ + silu·(1 - σ), so up·silu' = out + σ·(up - out): one pass less over the widest values of the model.
      const rest = this.op('Mul', [sigma, this.op('Sub', [up, out], shape)], shape);
      return [this.op('Mul', [g, this.op('Add', [out, rest], shape)], shape), this.op('Mul', [g, silu], shape)];
    });
  }

  reshape(x: Value, shape: Shape): Value {
    const before = this.shape(x);
    const out = this.op('Reshape', [x, this.ints(...shape)], shape);
    return this.#record(out, [x], (g) => [this.op('Reshape', [g, this.ints(...before)], before)]);
  }
  transpose(x: Value, perm: readonly number[]): Value {
    const shape = this.shape(x);
    const inverse = perm.map((_, i) => perm.indexOf(i));
    const out = this.op(
      'Transpose',
      [x],
      perm.map((p) => shape[p]!),
      { perm },
    );
    return this.#record(out, [x], (g) => [this.op('Transpose', [g], shape, { perm: inverse })]);
  }
  /** Rows of x [M, d] at `index` (int32 [S], no row twice) → [S, d]. */
  rows(x: Value, index: Value): Value {
    const shape = this.shape(x);
    const out = this.op('Gather', [x, index], [-1, shape[1]!], { axis: 0 });
    return this.#record(out, [x], (g) => {
      const zeros = this.op('Mul', [x, this.scalar(0)], shape);
      const column = this.op('Reshape', [this.int64(index), this.ints(-1, 1)], [-1, 1]);
      return [this.op('ScatterND', [zeros, column, g], shape)];
    });
  }
  /** Cuts the last axis into parts of the given sizes; not recorded. */
  split(x: Value, sizes: readonly number[]): Value[] {
    const shape = this.shape(x);
    const parts = sizes.map((n) => [...shape.slice(0, -1), n]);
    return this.ops('Split', [x, this.ints(...sizes)], parts, { axis: shape.length - 1 });
  }

  /**
   * Rotary position embedding (rotate-half) of x [B, T, heads·dh]. `positions` is int64 [1] (offset) or [B, T]; cos and sin
   * are [context, dh/2]. The derivative is the rotation by the opposite angle.
   */
  rope(x: Value, positions: Value, cos: Value, sin: Value, minusSin: Value): Value {
    const shape = this.shape(x);
    const rotate = (v: Value, s: Value): Value =>
      this.op('RotaryEmbedding', [v, positions, cos, s], shape, { interleaved: 0 }, 'com.microsoft');
    return this.#record(rotate(x, sin), [x], (g) => [rotate(g, minusSin)]);
  }

  /** Gradients of `wanted` given the gradient of `out`, by walking the tape backwards. */
  backward(out: Value, grad: Value, wanted: readonly Value[]): Value[] {
    const grads = new Map<Value, Value>([[out, grad]]);
    for (const entry of this.#tape.toReversed()) {
      const g = grads.get(entry.out);
      if (g === undefined) continue;
      const contributions = entry.vjp(g);
      entry.ins.forEach((input, i) => {
        const c = contributions[i];
        if (!c) return;
        const before = grads.get(input);
        if (typeof c === 'function') grads.set(input, c(before));
        else grads.set(input, before === undefined ? c : this.op('Add', [before, c], this.shape(c)));
      });
    }
    return wanted.map((w) => {
      const g = grads.get(w);
      if (g === undefined) throw new Error(`no gradient reaches ${w}`);
      return g;
    });
  }

  encode(): Uint8Array {
    return encodeModel({
      nodes: this.#nodes,
      inputs: this.#inputs,
      outputs: this.#outputs,
      initializers: this.#initializers,
    });
  }
}
