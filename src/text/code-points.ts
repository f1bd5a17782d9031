/**
 * The vocabulary of a model that only speaks text: one token per code point, and a few control tokens. Decoding and encoding
 * again is the identity but for control tokens.
 */
import type { Tokenizer } from '../engine.ts';

/** `tags` are the literal texts of the control tokens; their ids come first. */
export function codePointTokenizer(tags: readonly string[]): Tokenizer {
  const base = tags.length;
  const chars = (text: string): number[] => Array.from(text, (c) => base + c.codePointAt(0)!);
  const tag = (name: string): number => {
    const id = tags.indexOf(name);
    if (id < 0) throw new Error(`the vocabulary has no control token ${name}`);
    return id;
  };
  const textOf = (id: number): string => (id < base ? tags[id]! : String.fromCodePoint(id - base));
  return {
    vocabSize: base + 0x110000,
    encode: (pieces) => pieces.flatMap((piece) => (typeof piece === 'string' ? chars(piece) : [tag(piece.tag)])),
    decode: (ids) => ids.map(textOf).join(''),
    ends(ids) {
      let end = 0;
      return ids.map((id) => {
        end += textOf(id).length;
        return end;
      });
    },
    tag,
  };
}
