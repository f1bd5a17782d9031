/**
 * One line of a JSON Lines corpus: `{id, title, text}`, or FlashRAG's `{id, contents}`, whose first line is the title in
 * double quotes and whose rest is the text. Never throws: a line that holds no document says what is wrong with it.
 */
import type { Source } from '../../types.ts';
import { messageOf } from '../../util/error.ts';
import type { Repair } from './report.ts';

export type CorpusLine =
  | { readonly ok: true; readonly doc: Source; readonly notes: readonly Repair[] }
  | { readonly ok: false; readonly problem: string };

const expected = 'expected {"id", "title", "text"} or {"id", "contents"}';

export function parseCorpusLine(line: string): CorpusLine {
  const notes: Repair[] = [];
  let json = line;
  if (json.startsWith('\uFEFF')) {
    json = json.slice(1);
    notes.push('bom_removed');
  }
  if (json.endsWith('\r\n') || json.endsWith('\r')) notes.push('crlf');

  let row: unknown;
  try {
    row = JSON.parse(json);
  } catch (error) {
    return wrong(`not JSON (${messageOf(error)}); expected one object a line`);
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return wrong(`not an object; ${expected}`);

  const { id, title = '', text, contents } = row as Record<string, unknown>;
  if (typeof id === 'number') {
    if (!Number.isSafeInteger(id))
      return wrong(`id ${id} is not a whole number that JSON keeps exactly; write a string`);
    notes.push('id_to_string');
  } else if (typeof id !== 'string' || id === '') {
    return wrong(`"id" is ${shown(id)}; expected a string or a whole number`);
  }
  if (text === undefined && contents === undefined) return wrong(`no text; ${expected}`);
  const body = text ?? contents;
  if (typeof body !== 'string')
    return wrong(`"${text === undefined ? 'contents' : 'text'}" is ${shown(body)}; ${expected}`);
  if (typeof title !== 'string') return wrong(`"title" is ${shown(title)}; expected a string`);

  const parts = text === undefined ? fromContents(body) : { title, text: body };
  if (parts.text.trim() === '') return wrong('the text is empty');
  return { ok: true, doc: { id: String(id), ...parts }, notes };
}

/** Title and text of FlashRAG's `contents`. A single line is a text without a title. */
function fromContents(contents: string): { readonly title: string; readonly text: string } {
  const end = contents.indexOf('\n');
  if (end < 0) return { title: '', text: contents };
  const first = contents.slice(0, end).trim();
  const quoted = first.length >= 2 && first.startsWith('"') && first.endsWith('"');
  return { title: quoted ? first.slice(1, -1) : first, text: contents.slice(end + 1) };
}

const wrong = (problem: string): CorpusLine => ({ ok: false, problem });

const shown = (value: unknown): string => (value === undefined ? 'missing' : `${JSON.stringify(value)?.slice(0, 40)}`);
