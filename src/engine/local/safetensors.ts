/** Reads and writes the safetensors format (float32, float16 and bfloat16 in; float32 out). */
import { z } from 'zod';
import { messageOf, UserError } from '../../util/error.ts';
import type { Layout } from './qwen3.ts';

const Entry = z.looseObject({
  dtype: z.string(),
  shape: z.array(z.number()),
  data_offsets: z.tuple([z.number(), z.number()]),
});

/** Flat parameter vector → file bytes, tensors in layout order. */
export function encodeSafetensors(layout: Layout, theta: Float32Array): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  for (const t of layout.tensors) {
    header[t.name] = { dtype: 'F32', shape: t.shape, data_offsets: [t.offset * 4, (t.offset + t.size) * 4] };
  }
  let text = JSON.stringify(header);
  text += ' '.repeat((8 - (text.length % 8)) % 8);
  const head = new TextEncoder().encode(text);
  const out = new Uint8Array(8 + head.length + theta.length * 4);
  new DataView(out.buffer).setBigUint64(0, BigInt(head.length), true);
  out.set(head, 8);
  out.set(new Uint8Array(theta.buffer, theta.byteOffset, theta.byteLength), 8 + head.length);
  return out;
}

/** File bytes → flat parameter vector. `file` is for messages. */
export function decodeSafetensors(layout: Layout, bytes: Uint8Array, file: string): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length >= 8 ? Number(view.getBigUint64(0, true)) : Number.POSITIVE_INFINITY;
  if (8 + length > bytes.length) {
    throw new UserError(`${file}: not a whole safetensors file (${bytes.length} bytes, header of ${length} bytes)`);
  }
  const header = readHeader(bytes.subarray(8, 8 + length), file);
  const theta = new Float32Array(layout.size);
  for (const t of layout.tensors) {
    if (!Object.hasOwn(header, t.name))
      throw new UserError(`${file}: tensor ${t.name} is missing; config.json says the model has it`);
    const { success, data: entry } = Entry.safeParse(header[t.name]);
    if (!success) throw new UserError(`${file}: the header says nothing of use on ${t.name}; fetch the file again`);
    if (entry.shape.join() !== t.shape.join()) {
      throw new UserError(`${file}: ${t.name} has shape [${entry.shape}]; config.json implies [${t.shape}]`);
    }
    const type = TYPES[entry.dtype];
    if (!type) throw new UserError(`${file}: ${t.name} has dtype ${entry.dtype}; expected F32, F16 or BF16`);
    const [from, to] = entry.data_offsets;
    if (to - from !== t.size * type.width || from < 0 || 8 + length + to > bytes.length) {
      throw new UserError(`${file}: ${t.name} lies at bytes ${from} to ${to} of the data; the file is cut or damaged`);
    }
    for (let i = 0; i < t.size; i++) theta[t.offset + i] = type.read(view, 8 + length + from + i * type.width);
  }
  return theta;
}

function readHeader(bytes: Uint8Array, file: string): Readonly<Record<string, unknown>> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new UserError(`${file}: not a safetensors file (its header is no JSON: ${messageOf(error)})`);
  }
  if (typeof header !== 'object' || header === null)
    throw new UserError(`${file}: not a safetensors file (its header is no JSON object)`);
  return header as Record<string, unknown>;
}

interface ElementType {
  /** Bytes. */
  readonly width: number;
  read(view: DataView, at: number): number;
}
const word = new DataView(new ArrayBuffer(4));
const TYPES: Readonly<Record<string, ElementType>> = {
  F32: { width: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { width: 2, read: (view, at) => half(view.getUint16(at, true)) },
  BF16: {
    width: 2,
    read(view, at) {
      word.setUint16(2, view.getUint16(at, true), true);
      return word.getFloat32(0, true);
    },
  },
};

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
