/** The part of proto3's wire format that the Tinker messages use: varints, doubles and length-delimited fields. */

/** The bytes are not a message of the schema. */
export class ProtoError extends Error {
  override readonly name = 'ProtoError';
}

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** A message under construction. Zero values may be left out by the caller: a reader cannot tell them from absent ones. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = [];

  /** A whole number, at least 0. */
  varint(field: number, value: number): this {
    this.#tag(field, WIRE.varint);
    this.#parts.push(varintBytes(BigInt(value)));
    return this;
  }

  double(field: number, value: number): this {
    this.#tag(field, WIRE.fixed64);
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#parts.push(bytes);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, WIRE.bytes);
    this.#parts.push(varintBytes(BigInt(value.length)), value);
    return this;
  }

  string(field: number, value: string): this {
    return this.bytes(field, utf8.encode(value));
  }

  message(field: number, build: (inner: ProtoWriter) => void): this {
    const inner = new ProtoWriter();
    build(inner);
    return this.bytes(field, inner.finish());
  }

  /** Repeated whole numbers in one field. */
  packed(field: number, values: readonly number[]): this {
    return this.bytes(field, join(values.map((value) => varintBytes(BigInt(value)))));
  }

  /** One entry of a map with string keys; `value` writes field 2. */
  entry(field: number, key: string, value: (inner: ProtoWriter) => void): this {
    return this.message(field, (inner) => {
      inner.string(1, key);
      value(inner);
    });
  }

  finish(): Uint8Array {
    return join(this.#parts);
  }

  #tag(field: number, wire: number): void {
    this.#parts.push(varintBytes(BigInt(field * 8 + wire)));
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function varintBytes(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** A field as it was read. Asking for another kind than it has throws. */
export interface ProtoField {
  readonly number: number;
  /** As a signed 64-bit number. */
  int(): number;
  double(): number;
  bytes(): Uint8Array;
  string(): string;
  /** Whole numbers, packed or a single one. */
  ints(): number[];
}

/** The fields of a message in the order they come; groups are refused. @throws ProtoError */
export function* readFields(bytes: Uint8Array): Generator<ProtoField> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    const [value, next] = readVarint(bytes, at);
    at = next;
    return value;
  };
  const take = (length: number): number => {
    if (length > bytes.length - at) throw new ProtoError(`a field of ${length} bytes, ${bytes.length - at} are left`);
    at += length;
    return at - length;
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (number === 0) throw new ProtoError('a field has number 0');
    if (wire === WIRE.varint) yield fieldOf(number, { varint: varint() });
    else if (wire === WIRE.fixed64) yield fieldOf(number, { double: view.getFloat64(take(8), true) });
    else if (wire === WIRE.bytes) {
      const length = Number(varint());
      const from = take(length);
      yield fieldOf(number, { bytes: bytes.subarray(from, from + length) });
    } else if (wire === WIRE.fixed32) {
      take(4);
      yield fieldOf(number, {});
    } else throw new ProtoError(`field ${number} has wire type ${wire}`);
  }
}

function readVarint(bytes: Uint8Array, from: number): [bigint, number] {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i];
    if (byte === undefined) throw new ProtoError('the message ends inside a number');
    value |= BigInt(byte & 127) << BigInt(7 * i);
    if (byte < 128) return [BigInt.asIntN(64, value), from + i + 1];
  }
  throw new ProtoError('a number is longer than 10 bytes');
}

interface Payload {
  readonly varint?: bigint;
  readonly double?: number;
  readonly bytes?: Uint8Array;
}

function fieldOf(number: number, payload: Payload): ProtoField {
  const need = <K extends keyof Payload>(kind: K): NonNullable<Payload[K]> => {
    const value = payload[kind];
    if (value === undefined) throw new ProtoError(`field ${number} is not of the kind "${kind}"`);
    return value as NonNullable<Payload[K]>;
  };
  return {
    number,
    int: () => Number(need('varint')),
    double: () => need('double'),
    bytes: () => need('bytes'),
    string() {
      try {
        return strictUtf8.decode(need('bytes'));
      } catch (error) {
        if (error instanceof ProtoError) throw error;
        throw new ProtoError(`field ${number} is not UTF-8`);
      }
    },
    ints() {
      if (payload.varint !== undefined) return [Number(payload.varint)];
      const packed = need('bytes');
      const values: number[] = [];
      for (let at = 0; at < packed.length; ) {
        const [value, next] = readVarint(packed, at);
        values.push(Number(value));
        at = next;
      }
      return values;
    },
  };
}

/** Key and value field of a map entry; an absent value is null. */
export function readEntry(bytes: Uint8Array): readonly [string, ProtoField | null] {
  let key = '';
  let value: ProtoField | null = null;
  for (const field of readFields(bytes)) {
    if (field.number === 1) key = field.string();
    if (field.number === 2) value = field;
  }
  return [key, value];
}
