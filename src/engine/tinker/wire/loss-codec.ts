/** ForwardBackwardRequest and ForwardBackwardOutput of package tinker_public, to and from the JSON shapes of messages.ts. */
import { DTYPES, dtypeOf, readNumbers, sizeOf, writeNumbers } from './arrays.ts';
import type { Chunk, LossRequest, LossResult, Tensor, WireDatum } from './messages.ts';
import { ProtoError, ProtoWriter, readEntry, readFields } from './protobuf.ts';

export function encodeLossRequest({ model_id, seq_id, forward_only, input }: LossRequest): Uint8Array {
  const out = new ProtoWriter().string(1, model_id);
  if (seq_id !== null) out.varint(2, seq_id);
  for (const datum of input.data) out.message(3, (inner) => writeDatum(inner, datum));
  out.string(4, input.loss_fn);
  for (const [key, value] of Object.entries(input.loss_fn_config ?? {})) {
    if (typeof value === 'number') out.entry(5, key, (inner) => inner.double(2, value));
    else out.entry(7, key, (inner) => inner.message(2, (text) => text.string(2, value)));
  }
  if (forward_only) out.varint(6, 1);
  return out.finish();
}

function writeDatum(out: ProtoWriter, { model_input, loss_fn_inputs }: WireDatum): void {
  for (const chunk of model_input.chunks) {
    if (chunk.type !== 'encoded_text') throw new ProtoError(`a chunk of type ${chunk.type} cannot be encoded`);
    out.message(1, (inner) => inner.message(1, (text) => text.bytes(1, writeNumbers(chunk.tokens, 'int32'))));
  }
  for (const [name, tensor] of Object.entries(loss_fn_inputs)) {
    out.entry(2, name, (inner) => inner.message(2, (t) => writeTensor(t, tensor)));
  }
}

function writeTensor(out: ProtoWriter, tensor: Tensor): void {
  const { data, dtype, shape, sparse_crow_indices: crow, sparse_col_indices: col } = tensor;
  const values = writeNumbers(data, dtype);
  if (crow != null && col != null) {
    const indices = [crow, col].map((list) => writeNumbers(list, 'int64')) as [Uint8Array, Uint8Array];
    out.message(2, (csr) => csr.bytes(1, values).bytes(2, indices[0]).bytes(3, indices[1]));
  } else out.bytes(1, values);
  out.varint(3, DTYPES[dtype]);
  if (shape != null) out.packed(4, shape);
}

/** @throws ProtoError */
export function decodeLossRequest(bytes: Uint8Array): LossRequest {
  let [modelId, seqId, lossFn, forwardOnly] = ['', 0, '', false];
  const data: WireDatum[] = [];
  // Names come from outside: a map, so that none of them is special.
  const config = new Map<string, number | string>();
  for (const field of readFields(bytes)) {
    if (field.number === 1) modelId = field.string();
    else if (field.number === 2) seqId = field.int();
    else if (field.number === 3) data.push(readDatum(field.bytes()));
    else if (field.number === 4) lossFn = field.string();
    else if (field.number === 5) {
      const [key, value] = readEntry(field.bytes());
      if (!config.has(key)) config.set(key, value?.double() ?? 0);
    } else if (field.number === 6) forwardOnly = field.int() !== 0;
    else if (field.number === 7) {
      const [key, value] = readEntry(field.bytes());
      config.set(key, value === null ? 0 : readConfigValue(value.bytes()));
    }
  }
  if (seqId < 1) throw new ProtoError(`seq_id is ${seqId}; expected 1 or more`);
  const input = { data, loss_fn: lossFn, loss_fn_config: Object.fromEntries(config) };
  return { model_id: modelId, seq_id: seqId, forward_only: forwardOnly, input };
}

function readConfigValue(bytes: Uint8Array): number | string {
  let value: number | string = 0;
  for (const field of readFields(bytes)) {
    if (field.number === 1) value = field.double();
    if (field.number === 2) value = field.string();
  }
  return value;
}

function readDatum(bytes: Uint8Array): WireDatum {
  const chunks: Chunk[] = [];
  const inputs = new Map<string, Tensor>();
  for (const field of readFields(bytes)) {
    if (field.number === 1) chunks.push(readChunk(field.bytes()));
    if (field.number !== 2) continue;
    const [name, value] = readEntry(field.bytes());
    if (value === null) throw new ProtoError(`input "${name}" has no tensor`);
    inputs.set(name, readTensor(value.bytes()));
  }
  return { model_input: { chunks }, loss_fn_inputs: Object.fromEntries(inputs) };
}

function readChunk(bytes: Uint8Array): Chunk {
  let chunk: Chunk | null = null;
  for (const field of readFields(bytes)) {
    if (field.number === 1) chunk = { type: 'encoded_text', tokens: readTokens(field.bytes()) };
    if (field.number === 2) chunk = { type: 'image' };
    if (field.number === 3) chunk = { type: 'dmel' };
  }
  if (chunk === null) throw new ProtoError('a chunk is empty');
  return chunk;
}

function readTokens(bytes: Uint8Array): number[] {
  let tokens: number[] = [];
  for (const field of readFields(bytes)) if (field.number === 1) tokens = readNumbers(field.bytes(), 'int32');
  return tokens;
}

function readTensor(bytes: Uint8Array): Tensor {
  let values = new Uint8Array();
  let indices: { crow: number[]; col: number[] } | null = null;
  let dtype = 0;
  const shape: number[] = [];
  for (const field of readFields(bytes)) {
    if (field.number === 1) values = Uint8Array.from(field.bytes());
    else if (field.number === 3) dtype = field.int();
    else if (field.number === 4) shape.push(...field.ints());
    else if (field.number === 2) {
      indices = { crow: [], col: [] };
      for (const part of readFields(field.bytes())) {
        if (part.number === 1) values = Uint8Array.from(part.bytes());
        if (part.number === 2) indices.crow = readNumbers(part.bytes(), 'int64');
        if (part.number === 3) indices.col = readNumbers(part.bytes(), 'int64');
      }
    }
  }
  const stored = dtypeOf(dtype);
  return {
    data: readNumbers(values, stored),
    dtype: stored === 'float32' || stored === 'bfloat16' ? 'float32' : 'int64',
    ...(shape.length === 0 ? {} : { shape }),
    ...(indices === null ? {} : { sparse_crow_indices: indices.crow, sparse_col_indices: indices.col }),
  };
}

/** All datums have the same fields, and each field the same trailing shape. */
export function encodeLossResult({ loss_fn_output_type, loss_fn_outputs, metrics }: LossResult): Uint8Array {
  const out = new ProtoWriter().string(1, loss_fn_output_type);
  if (loss_fn_outputs.length > 0) {
    out.message(2, (record) => {
      for (const name of Object.keys(loss_fn_outputs[0]!)) {
        const tensors = loss_fn_outputs.map((output) => output[name]!);
        record.entry(2, name, (inner) => inner.message(2, (batched) => writeBatched(batched, tensors)));
      }
      record.varint(3, loss_fn_outputs.length);
    });
  }
  for (const [name, value] of Object.entries(metrics)) out.entry(3, name, (inner) => inner.double(2, value));
  return out.finish();
}

function writeBatched(out: ProtoWriter, tensors: readonly Tensor[]): void {
  const { dtype, shape } = tensors[0]!;
  let end = 0;
  const offsets = [0, ...tensors.map((tensor) => (end += tensor.data.length * sizeOf(dtype)))];
  out.bytes(
    1,
    writeNumbers(
      tensors.flatMap((tensor) => tensor.data),
      dtype,
    ),
  );
  out.bytes(2, writeNumbers(offsets, 'int64')).varint(3, DTYPES[dtype]);
  if (shape != null && shape.length > 1) out.packed(4, shape.slice(1));
}

/** @throws ProtoError */
export function decodeLossResult(bytes: Uint8Array): LossResult {
  let type = 'ArrayRecord';
  const outputs: Record<string, Tensor>[] = [];
  const metrics = new Map<string, number>();
  for (const field of readFields(bytes)) {
    if (field.number === 1) type = field.string().split(':').at(-1)!;
    else if (field.number === 2) outputs.push(...readRecord(field.bytes()));
    else if (field.number === 3) {
      const [name, value] = readEntry(field.bytes());
      metrics.set(name, value?.double() ?? 0);
    }
  }
  return { loss_fn_output_type: type, loss_fn_outputs: outputs, metrics: Object.fromEntries(metrics) };
}

function readRecord(bytes: Uint8Array): Record<string, Tensor>[] {
  const columns = new Map<string, Tensor[]>();
  let count = 0;
  for (const field of readFields(bytes)) {
    if (field.number === 3) count = field.int();
    if (field.number !== 2) continue;
    const [name, value] = readEntry(field.bytes());
    if (value !== null) columns.set(name, readBatched(value.bytes()));
  }
  const rows = count || ([...columns.values()][0]?.length ?? 0);
  for (const [name, column] of columns) {
    if (column.length !== rows) throw new ProtoError(`output "${name}" has ${column.length} datums of ${rows}`);
  }
  if (columns.size === 0 && rows > bytes.length * 2 ** 16) throw new ProtoError(`${rows} datums without a field`);
  return Array.from({ length: rows }, (_, i) => Object.fromEntries([...columns].map(([name, c]) => [name, c[i]!])));
}

function readBatched(bytes: Uint8Array): Tensor[] {
  let data = new Uint8Array();
  let offsets: number[] = [];
  let dtype = 0;
  const trailing: number[] = [];
  for (const field of readFields(bytes)) {
    if (field.number === 1) data = Uint8Array.from(field.bytes());
    else if (field.number === 2) offsets = readNumbers(field.bytes(), 'int64');
    else if (field.number === 3) dtype = field.int();
    else if (field.number === 4) trailing.push(...field.ints());
  }
  const stored = dtypeOf(dtype);
  const kind = stored === 'float32' || stored === 'bfloat16' ? 'float32' : 'int64';
  const width = trailing.reduce((a, b) => a * b, 1);
  return offsets.slice(1).map((end, i) => {
    const from = offsets[i]!;
    if (from < 0 || end < from || end > data.length) throw new ProtoError(`offsets ${from} to ${end} are out of range`);
    const values = readNumbers(data.subarray(from, end), stored);
    return { data: values, dtype: kind, shape: [width === 0 ? 0 : values.length / width, ...trailing] };
  });
}
