/** Hugging Face model directories: written and read back, half precision read, and what is wrong with the others. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCheckpoint, writeCheckpoint } from '../../src/engine/local/checkpoint.ts';
import { layoutOf } from '../../src/engine/local/qwen3.ts';
import { decodeSafetensors, encodeSafetensors } from '../../src/engine/local/safetensors.ts';
import { UserError } from '../../src/util/error.ts';
import { noisyWeights, TINY } from './fixture.ts';

const layout = layoutOf(TINY);
const weights = noisyWeights(TINY, 9);
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'checkpoint-'));
});
afterEach(() => rm(dir, { recursive: true }));

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}
type Header = Record<string, Entry>;

/** A safetensors file from its parts, as the format describes it. */
function file(header: unknown, data: Uint8Array): Uint8Array {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

/** All tensors at two bytes an element; `bits` gives the element. */
function halfFile(dtype: string, bits: (x: number) => number): Uint8Array {
  const header: Header = {};
  const data = Buffer.alloc(layout.size * 2);
  // In reverse order: the place in the file counts, not the order of names.
  let at = 0;
  for (const t of layout.tensors.toReversed()) {
    header[t.name] = { dtype, shape: [...t.shape], data_offsets: [at, at + 2 * t.size] };
    for (let i = 0; i < t.size; i++) data.writeUInt16LE(bits(weights[t.offset + i]!), at + 2 * i);
    at += 2 * t.size;
  }
  return file(header, data);
}

describe('a directory', () => {
  it('comes back as it was written, and under the names of Hugging Face', async () => {
    await writeCheckpoint(dir, { config: TINY, weights });
    const back = await readCheckpoint(dir);
    expect(back.config).toEqual(TINY);
    expect(back.weights).toEqual(weights);
    const config = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8'));
    expect(config).toMatchObject({
      architectures: ['Qwen3ForCausalLM'],
      model_type: 'qwen3',
      num_key_value_heads: 2,
      head_dim: 8,
      tie_word_embeddings: true,
    });
    const bytes = await readFile(join(dir, 'model.safetensors'));
    const length = Number(bytes.readBigUInt64LE(0));
    expect(length % 8).toBe(0);
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString()) as Header;
    expect(header['model.embed_tokens.weight']).toEqual({ dtype: 'F32', shape: [24, 32], data_offsets: [0, 3072] });
    expect(header['model.layers.1.self_attn.k_proj.weight']!.shape).toEqual([16, 32]);
    const ends = Object.values(header).map((e) => e.data_offsets?.[1] ?? 0);
    expect(8 + length + Math.max(...ends)).toBe(bytes.length);
  });

  const rewrite = async (change: (config: Record<string, unknown>) => void): Promise<void> => {
    await writeCheckpoint(dir, { config: TINY, weights });
    const path = join(dir, 'config.json');
    const config = JSON.parse(await readFile(path, 'utf8'));
    change(config);
    await writeFile(path, JSON.stringify(config));
  };

  it.each<[string, (c: Record<string, unknown>) => void, RegExp]>([
    [
      'another architecture',
      (c) => Object.assign(c, { model_type: 'gpt2' }),
      /config.json: model_type is gpt2; .*qwen3/,
    ],
    ['untied embeddings', (c) => Object.assign(c, { tie_word_embeddings: false }), /tie_word_embeddings is not true/],
    ['a missing size', (c) => delete c.num_hidden_layers, /num_hidden_layers is undefined; expected a number/],
    ['another epsilon', (c) => Object.assign(c, { rms_norm_eps: 1e-5 }), /rms_norm_eps is 0.00001; .*with 0.000001/],
    ['biases', (c) => Object.assign(c, { attention_bias: true }), /attention_bias is true/],
    ['scaled positions', (c) => Object.assign(c, { rope_scaling: { rope_type: 'yarn' } }), /rope type is yarn/],
    ['more layers than tensors', (c) => Object.assign(c, { num_hidden_layers: 3 }), /model.layers.2.*is missing/],
    [
      'another width',
      (c) => Object.assign(c, { intermediate_size: 40 }),
      /gate_proj.weight has shape \[48,32\]; .*\[40,32\]/,
    ],
  ])('%s', async (_, change, message) => {
    await rewrite(change);
    await expect(readCheckpoint(dir)).rejects.toThrow(UserError);
    await expect(readCheckpoint(dir)).rejects.toThrow(message);
  });

  it('reads the rotary settings where transformers 5 writes them', async () => {
    await rewrite((c) => {
      delete c.rope_theta;
      c.rope_parameters = { rope_type: 'default', rope_theta: 5e5 };
    });
    expect((await readCheckpoint(dir)).config.ropeTheta).toBe(5e5);
  });

  it('not there, incomplete, or no JSON', async () => {
    const needs = /config.json: cannot be read; a model directory needs config.json, model.safetensors/;
    await expect(readCheckpoint(join(dir, 'nowhere'))).rejects.toThrow(needs);
    await writeCheckpoint(dir, { config: TINY, weights });
    await rm(join(dir, 'model.safetensors'));
    await expect(readCheckpoint(dir)).rejects.toThrow(/model.safetensors: cannot be read/);
    await writeFile(join(dir, 'config.json'), '{"model_type": ');
    await expect(readCheckpoint(dir)).rejects.toThrow(/config.json: not JSON/);
    await writeFile(join(dir, 'config.json'), 'null');
    await expect(readCheckpoint(dir)).rejects.toThrow(/config.json: not a JSON object/);
  });
});

describe('safetensors', () => {
  const read = (bytes: Uint8Array): Float32Array => decodeSafetensors(layout, bytes, 'm.safetensors');
  const word = new DataView(new ArrayBuffer(4));

  it('reads bfloat16: the upper half of a float32', () => {
    const upper = (x: number): number => {
      word.setFloat32(0, x);
      return word.getUint16(0);
    };
    const expected = weights.map((x) => {
      word.setUint32(0, upper(x) * 65536);
      return word.getFloat32(0);
    });
    expect(read(halfFile('BF16', upper))).toEqual(expected);
  });

  it.each([
    [0x3c00, 1],
    [0xc000, -2],
    [0x3555, 0.333251953125],
    [0x7bff, 65504],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x7c00, Number.POSITIVE_INFINITY],
    [0x8000, -0],
  ])('reads float16 %i', (bits, value) => {
    expect(read(halfFile('F16', () => bits))).toEqual(new Float32Array(layout.size).fill(value));
  });

  const good = encodeSafetensors(layout, weights);
  const length = Number(new DataView(good.buffer).getBigUint64(0, true));
  const data = good.subarray(8 + length);
  const header = (change: (h: Header) => void): Uint8Array => {
    const h = JSON.parse(new TextDecoder().decode(good.subarray(8, 8 + length))) as Header;
    change(h);
    return file(h, data);
  };
  const NORM = 'model.layers.0.input_layernorm.weight';

  it.each<[string, Uint8Array, string]>([
    ['an empty file', new Uint8Array(0), 'm.safetensors: not a whole safetensors file (0 bytes'],
    [
      'an absurd header length',
      Buffer.alloc(64, 0xff),
      'm.safetensors: not a whole safetensors file (64 bytes, header',
    ],
    ['a header longer than the file', good.subarray(0, length), 'not a whole safetensors file'],
    ['a header that is no JSON', file('{"a": [1, 2}', data), 'its header is no JSON'],
    ['a header that is no object', file('null', data), 'its header is no JSON object'],
    ['a tensor without a place', header((h) => (h[NORM] = {} as never)), `says nothing of use on ${NORM}`],
    ['data cut short', good.subarray(0, good.length - 4), 'model.norm.weight lies at bytes'],
    ['a missing tensor', header((h) => delete h[NORM]), `m.safetensors: tensor ${NORM} is missing`],
    ['a wrong shape', header((h) => (h[NORM]!.shape = [31])), `${NORM} has shape [31]; config.json implies [32]`],
    ['another type', header((h) => (h[NORM]!.dtype = 'I64')), `${NORM} has dtype I64; expected F32, F16 or BF16`],
    ['offsets of another size', header((h) => (h[NORM]!.data_offsets = [0, 8])), `${NORM} lies at bytes 0 to 8`],
  ])('%s', (_, bytes, message) => {
    expect(() => read(bytes)).toThrow(UserError);
    expect(() => read(bytes)).toThrow(message);
  });
});
