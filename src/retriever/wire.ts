/** What the search server and its client agree on (Search-R1's contract). */
import type { Passage } from '../types.ts';

/** Reply header of our own server: content id of the fingerprint of the index that answered. */
export const INDEX_HEADER = 'x-crossfold-index';

type Titled = Pick<Passage, 'title' | 'text'>;

/** A passage as one text, as in Search-R1 and FlashRAG: the title in double quotes on the first line, the text below. */
export const toContents = ({ title, text }: Titled): string => `"${title.replace(/[\r\n]+/g, ' ')}"\n${text}`;

/** The first line is the title, in quotes or not; a single line is a text without a title. */
export function fromContents(contents: string): Titled {
  const end = contents.indexOf('\n');
  if (end < 0) return { title: '', text: contents };
  const first = contents.slice(0, end).trim();
  const quoted = first.length >= 2 && first.startsWith('"') && first.endsWith('"');
  return { title: quoted ? first.slice(1, -1) : first, text: contents.slice(end + 1) };
}
