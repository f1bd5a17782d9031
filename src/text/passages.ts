/** Retrieved text as a model reads it. It is data: a tag in it must not look like one of ours. */
import type { Hit } from '../retriever.ts';

const OUR_TAGS =
  /<(?=\/?(?:think|search|information|answer|question|tool_call|tool_response|(?:begin|end)_search_(?:query|result))\b|\|)/gi;

/** Opens of our tags, and of control tokens such as `<|im_end|>`, become `&lt;`. */
export const escapeTags = (text: string): string => text.replace(OUR_TAGS, '&lt;');

/** Numbered documents with title and text, one a line; says so when there are none. */
export function numberedPassages(hits: readonly Hit[]): string {
  if (hits.length === 0) return 'No document was found.';
  return hits
    .map(({ passage }, i) => escapeTags(`Doc ${i + 1} (Title: ${passage.title}) ${passage.text.trim()}`))
    .join('\n');
}
