/** Arrays of numbers as raw little-endian bytes, whatever the machine's order is. */
import { ProtoError } from './protobuf.ts';

/** Number of DType in the schema. */
export const DTYPES = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const;
export type Dtype = keyof typeof DTYPES;

interface Kind {
  readonly size: number;
  readonly read: (view: DataView, at: number) => number;
  readonly write: (view: DataView, at: number, value: number) => void;
}

const KINDS: Readonly<Record<Dtype, Kind>> = {
  float32: { size: 4, read: (v, at) => v.getFloat32(at, true), write: (v, at, x) => v.setFloat32(at, x, true) },
  int64: {
    size: 8,
    read: (v, at) => Number(v.getBigInt64(at, true)),
    write: (v, at, x) => v.setBigInt64(at, BigInt(x), true),
  },
  int32: { size: 4, read: (v, at) => v.getInt32(at, true), write: (v, at, x) => v.setInt32(at, x, true) },
  // The upper half of a float32.
  bfloat16: {
    size: 2,
    read: (v, at) => upperHalf(v.getUint16(at, true)),
    write: (v, at, x) => v.setUint16(at, new Uint32Array(Float32Array.of(x).buffer)[0]! >>> 16, true),
  },
};

const upperHalf = (bits: number): number => new Float32Array(Uint32Array.of(bits << 16).buffer)[0]!;

export const sizeOf = (dtype: Dtype): number => KINDS[dtype].size;

export function dtypeOf(number: number): Dtype {
  const found = (Object.keys(DTYPES) as Dtype[]).find((name) => DTYPES[name] === number);
  if (found === undefined) throw new ProtoError(`dtype ${number} is unknown`);
  return found;
}

/** @throws ProtoError when the bytes are not a whole number of elements. */
export function readNumbers(bytes: Uint8Array, dtype: Dtype): number[] {
  const { size, read } = KINDS[dtype];
  if (bytes.length % size !== 0) throw new ProtoError(`${bytes.length} bytes are no array of ${dtype}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / size }, (_, i) => read(view, i * size));
}

export function writeNumbers(values: readonly number[], dtype: Dtype): Uint8Array {
  const { size, write } = KINDS[dtype];
  const bytes = new Uint8Array(values.length * size);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    write(view, i * size, value);
  });
  return bytes;
}
