/** Gold answers as files give them, made a list of texts that can be matched. */
import { normalize } from '../../text/normalize.ts';
import { readGold } from '../../text/score.ts';

export type GoldNote = 'gold_was_bare_string' | 'gold_was_json_text' | 'alias_without_words';

export interface CleanGold {
  /** In their order, each once; empty when none can be matched. */
  readonly aliases: readonly string[];
  readonly notes: readonly GoldNote[];
}

/** @param expected how this form gives its gold: what differs is noted. */
export function cleanGold(gold: unknown, expected: 'list' | 'text' | 'json-text'): CleanGold {
  const notes = new Set<GoldNote>();
  const texts: string[] = [];
  for (const value of Array.isArray(gold) ? gold : [gold]) {
    if (typeof value === 'number' || typeof value === 'boolean') texts.push(String(value));
    if (typeof value !== 'string') continue;
    const { aliases, warning } = readGold(value);
    if (warning !== null && expected !== 'json-text') notes.add(warning);
    if (warning === null && value === gold && expected !== 'text') notes.add('gold_was_bare_string');
    texts.push(...aliases.flatMap(unwrapped));
  }
  const kept = [...new Set(texts)].filter((text) => hasWords(text));
  if (kept.length < new Set(texts).size) notes.add('alias_without_words');
  return { aliases: kept, notes: [...notes] };
}

/** JSON text inside JSON text, so that reading gold twice changes nothing. */
function unwrapped(text: string): readonly string[] {
  const { aliases, warning } = readGold(text);
  return warning === null ? [text] : aliases.flatMap(unwrapped);
}

/** Punctuation alone ("---", ")") can never be matched, or is always. */
export const hasWords = (text: string): boolean => normalize(text) !== '' && !/^[\p{P}\s]+$/u.test(text);
