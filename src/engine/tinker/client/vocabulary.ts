/** A refusal for want of a token in the server's vocabulary, told by what the token is. */
import type { Tokenizer } from '../../../engine.ts';
import { unknownThere } from '../../misfit.ts';
import { Refused } from './transport.ts';

/** Servers differ in their words. */
const OF_VOCABULARY = /vocab|token[ _]?ids?\b.*(range|invalid|bounds)|invalid token/i;
const SIZE = /vocab\D{1,30}(\d{2,})/i;
const NAMED = /\btoken\D{1,8}(\d+)/i;

/** @param sequences token ids of the request. */
export function vocabularyError(
  error: unknown,
  sequences: readonly (readonly number[])[],
  tokenizer: Tokenizer,
): unknown {
  if (!(error instanceof Refused) || ![400, 422].includes(error.status) || !OF_VOCABULARY.test(error.message))
    return error;
  const size = numberIn(SIZE, error.message);
  const named = numberIn(NAMED, error.message);
  const isAlien = (id: number): boolean => (size === null ? id === named : id >= size);
  const tokens = sequences.find((sequence) => sequence.some(isAlien));
  return tokens === undefined ? error : unknownThere(tokens, tokens.findIndex(isAlien), tokenizer, size);
}

function numberIn(pattern: RegExp, text: string): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
