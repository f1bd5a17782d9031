/** The protobuf codec against vectors that another encoder made, and back and forth. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNumbers, writeNumbers } from '../../src/engine/tinker/wire/arrays.ts';
import {
  decodeLossRequest,
  decodeLossResult,
  encodeLossRequest,
  encodeLossResult,
} from '../../src/engine/tinker/wire/loss-codec.ts';
import type { LossRequest, LossResult, SampleResult } from '../../src/engine/tinker/wire/messages.ts';
import { checkpointPath, parseCheckpointPath } from '../../src/engine/tinker/wire/path.ts';
import { ProtoError } from '../../src/engine/tinker/wire/protobuf.ts';
import { decodeSampleResult, encodeSampleResult } from '../../src/engine/tinker/wire/sample-codec.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const REQ: LossRequest = {
  model_id: 'm1',
  seq_id: 1,
  forward_only: false,
  input: {
    data: [
      {
        model_input: { chunks: [{ type: 'encoded_text', tokens: [5, 6, 7] }] },
        loss_fn_inputs: {
          target_tokens: { data: [6, 7, 8], dtype: 'int64', shape: [3] },
          logprobs: { data: [0, -0.5, -1], dtype: 'float32', shape: [3] },
          advantages: { data: [0, 1, 1], dtype: 'float32', shape: [3] },
        },
      },
    ],
    loss_fn: 'importance_sampling',
    loss_fn_config: {},
  },
};
const REQ_HEX =
  '0a026d3110011a88010a100a0e0a0c05000000060000000700000012300a0d7461726765745f746f6b656e73121f0a180600000000000000070000000000000008000000000000001802220103121f0a086c6f6770726f627312130a0c00000000000000bf000080bf180122010312210a0a616476616e746167657312130a0c000000000000803f0000803f18012201032213696d706f7274616e63655f73616d706c696e67';
const REQ2: LossRequest = {
  model_id: 'm1',
  seq_id: 2,
  forward_only: true,
  input: { data: [], loss_fn: 'ppo', loss_fn_config: { clip_low_threshold: 0.8 } },
};
const REQ2_HEX = '0a026d311002220370706f2a1d0a12636c69705f6c6f775f7468726573686f6c64119a9999999999e93f3001';
const OUT: LossResult = {
  loss_fn_output_type: 'ArrayRecord',
  loss_fn_outputs: [
    { logprobs: { data: [-0.5, -1], dtype: 'float32', shape: [2] } },
    { logprobs: { data: [-2], dtype: 'float32', shape: [1] } },
  ],
  metrics: { 'loss:sum': 1.5 },
};
const OUT_HEX =
  '0a0b41727261795265636f7264123c0a0012360a086c6f6770726f6273122a0a0c000000bf000080bf000000c01218000000000000000008000000000000000c00000000000000180118021a130a086c6f73733a73756d11000000000000f83f';
const SAMPLE: SampleResult = {
  sequences: [{ tokens: [9, 10], logprobs: [-0.25, -0.5], stop_reason: 'length' }],
  prompt_logprobs: [null, -1],
  prompt_cache_hit_tokens: 0,
};
const SAMPLE_HEX = '0a1608011208090000000a0000001a08000080be000000bf12080000c07f000080bf';

describe('vectors of another encoder', () => {
  it('are read', () => {
    expect(decodeLossRequest(hex(REQ_HEX))).toEqual(REQ);
    expect(decodeLossRequest(hex(REQ2_HEX))).toEqual(REQ2);
    expect(decodeLossResult(hex(OUT_HEX))).toEqual(OUT);
    expect(decodeSampleResult(hex(SAMPLE_HEX))).toEqual(SAMPLE);
  });

  it('are written, byte for byte but for an empty tag', () => {
    expect(toHex(encodeLossRequest(REQ))).toBe(REQ_HEX);
    expect(toHex(encodeLossRequest(REQ2))).toBe(REQ2_HEX);
    expect(toHex(encodeLossResult(OUT))).toBe(OUT_HEX.replace('123c0a0012', '123a12'));
    expect(toHex(encodeSampleResult(SAMPLE))).toBe(SAMPLE_HEX);
  });
});

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const token = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
const tensor = fc.oneof(
  fc.array(float, { maxLength: 6 }).map((data) => ({ data, dtype: 'float32' as const, shape: [data.length] })),
  fc.array(fc.maxSafeInteger(), { maxLength: 6 }).map((data) => ({ data, dtype: 'int64' as const })),
  fc.array(float, { maxLength: 4 }).map((data) => ({
    data,
    dtype: 'float32' as const,
    shape: [2, 3],
    sparse_crow_indices: [0, 1, data.length],
    sparse_col_indices: data.map((_, i) => i),
  })),
);
const request: fc.Arbitrary<LossRequest> = fc.record({
  model_id: name,
  seq_id: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  forward_only: fc.boolean(),
  input: fc.record({
    data: fc.array(
      fc.record({
        model_input: fc.record({
          chunks: fc.array(fc.record({ type: fc.constant('encoded_text' as const), tokens: fc.array(token) })),
        }),
        loss_fn_inputs: fc.dictionary(name, tensor, { maxKeys: 3, noNullPrototype: true }),
      }),
      { maxLength: 3 },
    ),
    loss_fn: name,
    loss_fn_config: fc.dictionary(name, fc.oneof(fc.double({ noNaN: true }), name), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  }),
});

describe('back and forth', () => {
  it('requests', () => {
    fc.assert(
      fc.property(request, (r) => {
        expect(decodeLossRequest(encodeLossRequest(r))).toEqual(r);
      }),
    );
  });

  it('loss results', () => {
    const outputs = fc.array(fc.array(float), { minLength: 1, maxLength: 4 }).map((rows) =>
      rows.map((data) => ({
        logprobs: { data, dtype: 'float32' as const, shape: [data.length] },
        counts: { data: data.map((_, i) => i), dtype: 'int64' as const, shape: [data.length] },
      })),
    );
    const metrics = fc.dictionary(name, fc.double({ noNaN: true }), { noNullPrototype: true });
    fc.assert(
      fc.property(outputs, metrics, (loss_fn_outputs, m) => {
        const result = { loss_fn_output_type: 'ArrayRecord', loss_fn_outputs, metrics: m };
        expect(decodeLossResult(encodeLossResult(result))).toEqual(result);
      }),
    );
  });

  it('samples', () => {
    const sequences = fc.array(
      fc.record({
        tokens: fc.array(token),
        logprobs: fc.option(fc.array(float, { minLength: 1 })),
        stop_reason: fc.constantFrom('stop' as const, 'length' as const),
      }),
    );
    fc.assert(
      fc.property(sequences, fc.option(fc.array(fc.option(float))), fc.nat(), (s, prompt, hits) => {
        const result = { sequences: s, prompt_logprobs: prompt, prompt_cache_hit_tokens: hits };
        expect(decodeSampleResult(encodeSampleResult(result))).toEqual(result);
      }),
    );
  });

  it('numbers in four widths', () => {
    expect(toHex(writeNumbers([1, -2], 'int32'))).toBe('01000000feffffff');
    expect(toHex(writeNumbers([-2], 'int64'))).toBe('feffffffffffffff');
    expect(toHex(writeNumbers([-1.5], 'bfloat16'))).toBe('c0bf');
    expect(readNumbers(hex('c0bf'), 'bfloat16')).toEqual([-1.5]);
  });
});

describe('what is no message', () => {
  it('is refused or read, and nothing else', () => {
    const start = fc.constantFrom(hex(REQ_HEX), hex(OUT_HEX), hex(SAMPLE_HEX));
    fc.assert(
      fc.property(start, fc.nat(200), fc.nat(255), fc.nat(200), (bytes, at, value, end) => {
        const damaged = Uint8Array.from(bytes).subarray(0, Math.max(1, bytes.length - (end % 40)));
        damaged[at % damaged.length] = value;
        for (const decode of [decodeLossRequest, decodeLossResult, decodeSampleResult]) {
          try {
            decode(damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(ProtoError);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a length beyond the end', '0aff01'],
    ['a number that never ends', '08ffffffffffffffffffff01'],
    ['seq_id 0', '0a026d312203707076'],
    ['a group', '0b'],
  ])('%s', (_, bytes) => {
    expect(() => decodeLossRequest(hex(bytes))).toThrow(ProtoError);
  });

  it('a name of an object is a name like others', () => {
    const odd = { ...REQ, input: { ...REQ.input, loss_fn_config: JSON.parse('{"__proto__": 1}') } };
    expect(Object.keys(decodeLossRequest(encodeLossRequest(odd)).input.loss_fn_config!)).toEqual(['__proto__']);
  });
});

describe('checkpoint paths', () => {
  it('are read and written', () => {
    const path = { run: '1-2:train:0', kind: 'sampler_weights' as const, name: 'step.4' };
    expect(checkpointPath(path)).toBe('tinker://1-2:train:0/sampler_weights/step.4');
    expect(parseCheckpointPath(checkpointPath(path))).toEqual(path);
  });

  it.each([
    'tinker://a/b',
    'tinker://a/other/c',
    'http://a/weights/c',
    'tinker://a/weights/b/c',
    'tinker:///weights/c',
  ])('%s is none', (path) => {
    expect(parseCheckpointPath(path)).toBeNull();
  });
});
