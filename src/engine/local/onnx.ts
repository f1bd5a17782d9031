/** Writes ONNX model files (protobuf) from plain data. Only what our graphs need: no strings, no sub-graphs. */

export type DType = 'float32' | 'int32' | 'int64' | 'bool';
export type Attribute = number | string | readonly number[] | { readonly float: number };

/** A dimension; -1 is dynamic. */
export type Shape = readonly number[];

export interface Node {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly domain: '' | 'com.microsoft';
}
export interface ValueInfo {
  readonly name: string;
  readonly type: DType;
  readonly shape: Shape;
}
export interface Initializer extends ValueInfo {
  readonly data: Float32Array | Int32Array | BigInt64Array;
}
export interface Model {
  readonly nodes: readonly Node[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly initializers: readonly Initializer[];
}

const DTYPE: Readonly<Record<DType, number>> = { float32: 1, int32: 6, int64: 7, bool: 9 };
const IR_VERSION = 10;
const OPSET = 21;

type Bytes = number[];

function varint(out: Bytes, value: number): void {
  let n = BigInt.asUintN(64, BigInt(value));
  while (n > 127n) {
    out.push(Number(n & 127n) | 128);
    n >>= 7n;
  }
  out.push(Number(n));
}
function int(out: Bytes, field: number, value: number): void {
  varint(out, field << 3);
  varint(out, value);
}
function bytes(out: Bytes, field: number, content: ArrayLike<number>): void {
  varint(out, (field << 3) | 2);
  varint(out, content.length);
  for (let i = 0; i < content.length; i++) out.push(content[i]!);
}
const text = (out: Bytes, field: number, value: string): void => bytes(out, field, new TextEncoder().encode(value));
function float(out: Bytes, field: number, value: number): void {
  varint(out, (field << 3) | 5);
  out.push(...new Uint8Array(new Float32Array([value]).buffer));
}

function attribute(name: string, value: Attribute): Bytes {
  const out: Bytes = [];
  text(out, 1, name);
  if (typeof value === 'string') {
    text(out, 4, value);
    int(out, 20, 3);
  } else if (typeof value === 'number') {
    int(out, 3, value);
    int(out, 20, 2);
  } else if ('float' in value) {
    float(out, 2, value.float);
    int(out, 20, 1);
  } else {
    for (const v of value) int(out, 8, v);
    int(out, 20, 7);
  }
  return out;
}

function valueInfo(value: ValueInfo): Bytes {
  const shape: Bytes = [];
  value.shape.forEach((dim, i) => {
    const d: Bytes = [];
    if (dim < 0) text(d, 2, `${value.name}_${i}`);
    else int(d, 1, dim);
    bytes(shape, 1, d);
  });
  const tensor: Bytes = [];
  int(tensor, 1, DTYPE[value.type]);
  bytes(tensor, 2, shape);
  const type: Bytes = [];
  bytes(type, 1, tensor);
  const out: Bytes = [];
  text(out, 1, value.name);
  bytes(out, 2, type);
  return out;
}

function initializer(value: Initializer): Bytes {
  const out: Bytes = [];
  for (const dim of value.shape) int(out, 1, dim);
  int(out, 2, DTYPE[value.type]);
  text(out, 8, value.name);
  bytes(out, 9, new Uint8Array(value.data.buffer, value.data.byteOffset, value.data.byteLength));
  return out;
}

function node(value: Node): Bytes {
  const out: Bytes = [];
  for (const input of value.inputs) text(out, 1, input);
  for (const output of value.outputs) text(out, 2, output);
  text(out, 3, value.outputs.find((o) => o !== '')!);
  text(out, 4, value.op);
  for (const [name, attr] of Object.entries(value.attributes)) bytes(out, 5, attribute(name, attr));
  if (value.domain !== '') text(out, 7, value.domain);
  return out;
}

export function encodeModel(model: Model): Uint8Array {
  const graph: Bytes = [];
  for (const n of model.nodes) bytes(graph, 1, node(n));
  text(graph, 2, 'crossfold');
  for (const i of model.initializers) bytes(graph, 5, initializer(i));
  for (const i of model.inputs) bytes(graph, 11, valueInfo(i));
  for (const o of model.outputs) bytes(graph, 12, valueInfo(o));
  const out: Bytes = [];
  int(out, 1, IR_VERSION);
  text(out, 2, 'crossfold');
  bytes(out, 7, graph);
  for (const [domain, version] of [
    ['', OPSET],
    ['com.microsoft', 1],
  ] as const) {
    const opset: Bytes = [];
    if (domain !== '') text(opset, 1, domain);
    int(opset, 2, version);
    bytes(out, 8, opset);
  }
  return new Uint8Array(out);
}
