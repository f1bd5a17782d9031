/** Passages in a prompt, cut so that they fit. */
import type { Hit } from '../../retriever.ts';
import { numberedPassages } from '../passages.ts';

/** At most `words` words in all, shared equally. Untrusted text: escaped. */
export function evidence(hits: readonly Hit[], words: number): string {
  const each = Math.floor(words / Math.max(1, hits.length));
  return numberedPassages(
    hits.map(({ passage, score }) => ({ passage: { ...passage, text: firstWords(passage.text, each) }, score })),
  );
}

/** White space stays as it is. */
function firstWords(text: string, count: number): string {
  let left = count;
  for (const match of text.matchAll(/\S+/g)) {
    if (left-- <= 0) return text.slice(0, match.index).trimEnd();
  }
  return text;
}
