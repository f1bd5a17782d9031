/** The dialect that a policy speaks, seen from its vocabulary: a row each. General models get one that is plain text. */
import type { Dialect } from '../../dialect.ts';
import type { Tokenizer } from '../../engine.ts';
import { END_OF_TEXT, hasTag, IM_END, IM_START } from '../chat.ts';
import { CLOZE_TAGS, cloze } from './cloze.ts';
import { COMPACT_TAGS, compact } from './compact.ts';
import { searchR1 } from './search-r1.ts';
import { toolCall } from './tool-call.ts';

/** Vocabularies of policies that know one dialect only. */
const OWN: readonly { readonly dialect: Dialect; readonly tags: readonly string[] }[] = [
  { dialect: compact, tags: COMPACT_TAGS },
  { dialect: cloze, tags: CLOZE_TAGS },
];

export const GENERAL = { 'search-r1': searchR1, 'tool-call': toolCall } as const;
export type GeneralDialect = keyof typeof GENERAL;

/** `general` is for models that were not trained here: in ChatML where the vocabulary has it. */
export function dialectFor(tokenizer: Tokenizer, general: GeneralDialect): Dialect {
  const own = OWN.find(({ tags }) => tags.every((tag) => hasTag(tokenizer, tag)));
  if (own !== undefined) return own.dialect;
  return GENERAL[general]({
    form: hasTag(tokenizer, IM_START) ? 'chatml' : 'flat',
    stop: [IM_END, END_OF_TEXT].filter((tag) => hasTag(tokenizer, tag)),
  });
}
