/**
 * The word-level vocabulary of the `mini` policy and its Hugging Face tokenizer files. A token is a word, `?` or `~`;
 * other punctuation is dropped, so `# Mara Voss: home Fair Mere;` is five tokens. Control tags are special tokens that
 * no plain text encodes to: their angle brackets are punctuation.
 */
import { COMPACT_TAGS } from '../text/dialect/compact.ts';
import type { Piece } from '../types.ts';
import { NAMES, RELATIONS, TYPES } from './names.ts';

/** Stands for the second name part where a page cannot be read. */
export const ILLEGIBLE = '~';
const PAD = '<pad>';
const UNKNOWN = '<unk>';
const SPECIAL: readonly string[] = [PAD, UNKNOWN, ...COMPACT_TAGS];

/** Token ids are positions in this list. */
export const VOCABULARY: readonly string[] = [
  ...SPECIAL,
  'of',
  '?',
  ILLEGIBLE,
  ...RELATIONS.flatMap((r) => r.wordings),
  ...TYPES.flatMap((t) => [...NAMES[t].first, ...NAMES[t].second]),
];

const ID: ReadonlyMap<string, number> = new Map(VOCABULARY.map((word, id) => [word, id]));
const WORD = '[?~]|[^\\s\\p{P}\\p{S}]+';
const WORD_PATTERN = new RegExp(WORD, 'gu');

/** Same ids as the tokenizer files give; used where examples are generated in bulk. Throws on a tag it does not know. */
export function encodeWords(pieces: readonly Piece[]): number[] {
  return pieces.flatMap((piece) => {
    if (typeof piece === 'string') return (piece.match(WORD_PATTERN) ?? []).map((w) => ID.get(w) ?? ID.get(UNKNOWN)!);
    const id = ID.get(piece.tag);
    if (id === undefined) throw new Error(`the mini vocabulary has no control tag ${piece.tag}`);
    return [id];
  });
}

/** `tokenizer.json` of the checkpoint. Without a decoder the format joins words by spaces. */
export function tokenizerJson(): object {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: { type: 'Split', pattern: { Regex: WORD }, behavior: 'Removed', invert: true },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: Object.fromEntries(ID), unk_token: UNKNOWN },
  };
}

/** `tokenizer_config.json` of the checkpoint. */
export function tokenizerConfig(contextLength: number): object {
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    eos_token: '<end>',
    pad_token: PAD,
    unk_token: UNKNOWN,
    model_max_length: contextLength,
  };
}
