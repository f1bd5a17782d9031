/** Untrusted text (of models and documents) for terminals and pages: what hides or steers is shown as its escape. */
import { UNSEEN, visible } from '../util/visible.ts';

export { shortened, visible } from '../util/visible.ts';

/** JSON for programs that is harmless on a terminal too: what `visible` would show is escaped the way JSON does it. */
export const visibleJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(UNSEEN, (char) => (char === '\n' ? char : jsonEscape(char)));

const jsonEscape = (char: string): string =>
  Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');

/** Newlines break lines and tabs are two blanks; everything else as in `visible`. */
export const visibleLines = (text: string): string[] =>
  text.split(/\r\n|\n/).map((line) => visible(line.replaceAll('\t', '  ')));
