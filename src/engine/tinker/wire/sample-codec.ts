/** SampleResponse of package tinker_public, to and from the JSON shape of messages.ts. */
import { readNumbers, writeNumbers } from './arrays.ts';
import type { SampledSequence, SampleResult } from './messages.ts';
import { ProtoError, ProtoWriter, readFields } from './protobuf.ts';

const STOP_REASONS = ['stop', 'length'] as const;

export function encodeSampleResult({
  sequences,
  prompt_logprobs: prompt,
  prompt_cache_hit_tokens: hits = 0,
}: SampleResult): Uint8Array {
  const out = new ProtoWriter();
  for (const { stop_reason, tokens, logprobs } of sequences) {
    out.message(1, (inner) => {
      const reason = STOP_REASONS.indexOf(stop_reason);
      if (reason > 0) inner.varint(1, reason);
      inner.bytes(2, writeNumbers(tokens, 'int32'));
      if (logprobs !== null) inner.bytes(3, writeNumbers(logprobs, 'float32'));
    });
  }
  const missing = (value: number | null): number => value ?? Number.NaN;
  if (prompt != null) out.bytes(2, writeNumbers(prompt.map(missing), 'float32'));
  if (hits > 0) out.varint(4, hits);
  return out.finish();
}

/** @throws ProtoError */
export function decodeSampleResult(bytes: Uint8Array): SampleResult {
  const sequences: SampledSequence[] = [];
  let prompt: (number | null)[] | null = null;
  let hits = 0;
  for (const field of readFields(bytes)) {
    if (field.number === 1) sequences.push(readSequence(field.bytes()));
    else if (field.number === 4) hits = field.int();
    else if (field.number === 2) {
      prompt = readNumbers(field.bytes(), 'float32').map((value) => (Number.isNaN(value) ? null : value));
    }
  }
  return { sequences, prompt_logprobs: prompt, prompt_cache_hit_tokens: hits };
}

function readSequence(bytes: Uint8Array): SampledSequence {
  let reason = 0;
  let tokens: number[] = [];
  let logprobs: number[] | null = null;
  for (const field of readFields(bytes)) {
    if (field.number === 1) reason = field.int();
    else if (field.number === 2) tokens = readNumbers(field.bytes(), 'int32');
    else if (field.number === 3) logprobs = readNumbers(field.bytes(), 'float32');
  }
  const stop = STOP_REASONS[reason];
  if (stop === undefined) throw new ProtoError(`stop reason ${reason} is unknown`);
  return { tokens, logprobs, stop_reason: stop };
}
