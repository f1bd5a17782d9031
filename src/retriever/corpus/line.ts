/**
 * One row of a corpus, and one line of a JSON Lines corpus: `{id, title, text}`, or FlashRAG's `{id, contents}`, whose first
 * line is the title in double quotes and whose rest is the text. Never throws: what holds no document says what is wrong.
 */
import type { Source } from '../../types.ts';
import { messageOf } from '../../util/error.ts';
import { type CorpusReport, type Problem, type Repair, skip } from './report.ts';

export type CorpusRow =
  | { readonly ok: true; readonly doc: Source; readonly notes: readonly Repair[] }
  | ({ readonly ok: false } & Problem);

/** The document of a row, or null: it has none. What was repaired or is wrong is noted. */
export function documentIn(read: CorpusRow, where: string, report: CorpusReport): Source | null {
  if (!read.ok) {
    skip(report, where, read);
    return null;
  }
  for (const note of read.notes) report.repairs[note]++;
  return read.doc;
}

const expected = 'expected {"id", "title", "text"} or {"id", "contents"}';

export function parseCorpusLine(line: string): CorpusRow {
  const notes: Repair[] = [];
  let json = line;
  if (json.startsWith('\uFEFF')) {
    json = json.slice(1);
    notes.push('bom_removed');
  }
  if (json.endsWith('\r\n') || json.endsWith('\r')) notes.push('crlf');
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { ok: false, reason: 'not_json', problem: `not JSON (${messageOf(error)}); expected one object a line` };
  }
  const row = parseCorpusRow(value);
  return row.ok ? { ...row, notes: [...notes, ...row.notes] } : row;
}

/** @param place the id of a row that has none; without it, an id is required. BEIR calls it `_id`, HippoRAG `idx`. */
export function parseCorpusRow(row: unknown, place?: string): CorpusRow {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return malformed(`not an object; ${expected}`);
  const { id: plainId, _id, idx, title, text, contents } = row as Record<string, unknown>;
  const id = plainId ?? _id ?? (place === undefined ? undefined : (idx ?? place));
  if (typeof id === 'number' && !Number.isSafeInteger(id))
    return malformed(`id ${id} is not a whole number that JSON keeps exactly; write a string`);
  const isNumber = typeof id === 'number' || typeof id === 'bigint';
  if (!isNumber && (typeof id !== 'string' || id === ''))
    return malformed(`"id" is ${shown(id)}; expected a string or a whole number`);
  if (text === undefined && contents === undefined) return malformed(`no text; ${expected}`);
  const body = text ?? contents;
  if (typeof body !== 'string')
    return malformed(`"${text === undefined ? 'contents' : 'text'}" is ${shown(body)}; ${expected}`);
  if (typeof (title ?? '') !== 'string') return malformed(`"title" is ${shown(title)}; expected a string`);

  const parts =
    text === undefined ? fromContents(body, title as string | null) : { title: (title ?? '') as string, text: body };
  if (parts.text.trim() === '') return { ok: false, reason: 'empty', problem: 'the text is empty' };
  return { ok: true, doc: { id: String(id), ...parts }, notes: isNumber ? ['id_to_string'] : [] };
}

/** Title and text of FlashRAG's `contents`. A single line is a text without a title; a title of its own wins. */
function fromContents(
  contents: string,
  given: string | null = null,
): { readonly title: string; readonly text: string } {
  const end = contents.indexOf('\n');
  if (end < 0) return { title: given ?? '', text: contents };
  const first = contents.slice(0, end).trim();
  const quoted = first.length >= 2 && first.startsWith('"') && first.endsWith('"');
  const title = quoted ? first.slice(1, -1) : first;
  if (given !== null && given !== '' && given !== title) return { title: given, text: contents };
  return { title, text: contents.slice(end + 1) };
}

const malformed = (problem: string): CorpusRow => ({ ok: false, reason: 'malformed', problem });

const shown = (value: unknown): string => (value === undefined ? 'missing' : `${JSON.stringify(value)?.slice(0, 40)}`);
