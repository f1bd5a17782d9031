/**
 * Tokenizer of engine.ts over a Hugging Face tokenizer.json: byte-level BPE (Qwen, Llama 3, our reader) and WordLevel
 * (our miniature). Control tokens are the added tokens of the file, the unknown token and runs of white space excepted.
 * A plain string never encodes to one: a literal in it is cut after its first character before the model sees it.
 * Pure; engine/tokenizer-file reads the files.
 */
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import type { Tokenizer } from '../engine.ts';
import type { Piece } from '../types.ts';
import { UserError } from '../util/error.ts';
import { bytesOf } from './byte-level.ts';

const File = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.number(), content: z.string() })),
  decoder: z.looseObject({ type: z.string() }).nullish(),
  model: z.looseObject({ unk_token: z.string().nullish() }),
});

/** @throws UserError when the file is of another kind than the two above. */
export function tokenizerFrom(json: unknown, config: unknown): Tokenizer {
  const file = File.safeParse(json);
  if (!file.success) throw new UserError(`tokenizer.json is not a tokenizer file:\n${z.prettifyError(file.error)}`);
  const { added_tokens: added, decoder, model } = file.data;
  if (decoder && decoder.type !== 'ByteLevel')
    throw new UserError(`tokenizer.json: decoder.type is "${decoder.type}", expected "ByteLevel" or no decoder`);
  const unknown = model.unk_token ?? null;
  const hf = openHf(json as object, {
    ...(config as object | null),
    ...(unknown === null ? {} : { unk_token: unknown }),
  });
  const unknownId = unknown === null ? undefined : hf.token_to_id(unknown);
  if (!decoder && unknownId === undefined)
    throw new UserError(
      'tokenizer.json: model.unk_token must name a word of a vocabulary that has no byte-level decoder',
    );

  const control = new Map<string, number>();
  for (const token of added)
    if (token.content !== unknown && token.content.trim() !== '') control.set(token.content, token.id);
  const controlIds = new Set(control.values());
  const literals = literalPattern([...control.keys()]);
  let vocabSize = 0;
  for (const id of hf.get_vocab().values()) vocabSize = Math.max(vocabSize, id + 1);

  const encodeText = (text: string): number[] => {
    const ids = cut(text, literals).flatMap((part) => hf.encode(part, { add_special_tokens: false }).ids);
    if (!ids.some((id) => controlIds.has(id))) return ids;
    // A normalizer can still make a literal out of other characters (full-width brackets, say).
    const half = Math.ceil(text.length / 2);
    return text.length < 2 ? [] : [...encodeText(text.slice(0, half)), ...encodeText(text.slice(half))];
  };
  const tag = (name: string): number => {
    const id = control.get(name);
    if (id === undefined) throw new Error(`the vocabulary has no control token ${name}`);
    return id;
  };
  const word = (id: number): string => hf.id_to_token(id) ?? '';
  const spell = decoder
    ? (ids: readonly number[]) => spellBytes(ids, word, controlIds)
    : (ids: readonly number[]) => spellWords(ids, word);
  return {
    vocabSize,
    tag,
    encode: (pieces: readonly Piece[]) =>
      pieces.flatMap((piece) => (typeof piece === 'string' ? encodeText(piece) : [tag(piece.tag)])),
    decode: (ids) => spell(ids).text,
    ends: (ids) => spell(ids).ends,
  };
}

function openHf(json: object, config: object): HfTokenizer {
  try {
    return new HfTokenizer(json, config);
  } catch (error) {
    throw new UserError(`tokenizer.json cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Matches any of `literals`, the longest first; null when there is none. */
function literalPattern(literals: readonly string[]): RegExp | null {
  if (literals.length === 0) return null;
  const escaped = [...literals]
    .sort((a, b) => b.length - a.length)
    .map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(escaped.join('|'), 'g');
}

/** `text` in parts that hold no literal: each one is cut after its first character. */
function cut(text: string, literals: RegExp | null): string[] {
  if (text === '') return [];
  if (literals === null) return [text];
  const parts: string[] = [];
  let from = 0;
  literals.lastIndex = 0;
  for (let match = literals.exec(text); match !== null; match = literals.exec(text)) {
    const at = match.index + (text.codePointAt(match.index)! > 0xffff ? 2 : 1);
    parts.push(text.slice(from, at));
    from = at;
    literals.lastIndex = at;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

interface Spelling {
  readonly text: string;
  /** ends[i]: characters (UTF-16 units) of `text` that are complete once token i has arrived. */
  readonly ends: number[];
}

/** Byte-level: a character counts when its last byte arrives; bytes that never complete one become U+FFFD. */
function spellBytes(ids: readonly number[], word: (id: number) => string, control: ReadonlySet<number>): Spelling {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const ends: number[] = [];
  let text = '';
  ids.forEach((id, i) => {
    if (control.has(id)) {
      text += word(id);
    } else {
      const next = ids[i + 1];
      const more = next !== undefined && !control.has(next);
      text += decoder.decode(bytesOf(word(id)), { stream: more });
    }
    ends.push(text.length);
  });
  return { text, ends };
}

/** WordLevel: words with one space between them, which belongs to the later word. */
function spellWords(ids: readonly number[], word: (id: number) => string): Spelling {
  const ends: number[] = [];
  let length = 0;
  ids.forEach((id, i) => {
    length += (i === 0 ? 0 : 1) + word(id).length;
    ends.push(length);
  });
  return { text: ids.map(word).join(' '), ends };
}
