/**
 * Tab-separated passages, one a line: with a header, columns by name; without one, `id text title` (DPR's psgs_w100.tsv) or
 * `id text` (KILT), where the text may open with its title.
 */
import { isUtf8 } from 'node:buffer';
import { notUtf8 } from './document.ts';
import type { CorpusFile } from './files.ts';
import { type CorpusRow, documentIn, parseCorpusRow } from './line.ts';
import { readLines } from './open.ts';
import type { Located } from './read.ts';
import { type CorpusReport, skip } from './report.ts';

type Column = 'id' | 'title' | 'text' | null;

/** What headers call the columns. */
const called: Readonly<Record<string, Column>> = {
  id: 'id',
  _id: 'id',
  docid: 'id',
  pid: 'id',
  title: 'title',
  text: 'text',
  contents: 'text',
  passage: 'text',
};

const headerless: Readonly<Record<number, readonly Column[]>> = { 2: ['id', 'text'], 3: ['id', 'text', 'title'] };

export async function* readTsv({ path, name }: CorpusFile, report: CorpusReport): AsyncGenerator<Located> {
  let header: readonly Column[] | undefined;
  for await (const { number, bytes } of readLines(path, report)) {
    const where = `${name}:${number}`;
    if (!isUtf8(bytes)) {
      skip(report, where, notUtf8);
      continue;
    }
    const raw = bytes.toString();
    if (number === 1 && raw.startsWith('\uFEFF')) report.repairs.bom_removed++;
    if (raw.endsWith('\r')) report.repairs.crlf++;
    const line = raw.replace(/^\uFEFF/, '').replace(/\r$/, '');
    if (line.trim() === '') continue;
    const cells = line.split('\t').map(unquoted);
    if (number === 1) {
      header = headerOf(cells);
      if (header !== undefined) continue;
    }
    const source = documentIn(rowOf(cells, header), where, report);
    if (source !== null) yield { source, where };
  }
}

function headerOf(cells: readonly string[]): readonly Column[] | undefined {
  const columns = cells.map((cell) => called[cell.trim().toLowerCase()] ?? null);
  return columns.includes('id') && columns.includes('text') ? columns : undefined;
}

function rowOf(cells: readonly string[], header: readonly Column[] | undefined): CorpusRow {
  const columns = header ?? headerless[cells.length];
  if (columns?.length !== cells.length) {
    const wanted = header === undefined ? '2 (id, text) or 3 (id, text, title)' : `${header.length} as in the header`;
    return { ok: false, reason: 'malformed', problem: `${cells.length} columns; expected ${wanted}` };
  }
  const cell = (column: Column): string | undefined => cells[columns.indexOf(column)];
  const text = cell('text')!;
  const title = columns.includes('title') ? cell('title') : undefined;
  return parseCorpusRow({ id: cell('id'), ...(title === undefined ? opening(text) : { title, text }) });
}

/** The title that a text opens with: "Title: … Text: …", or set apart by three blanks. */
function opening(text: string): { readonly title: string; readonly text: string } {
  const found = /^Title: (.{1,300}?) Text:\s*/.exec(text) ?? /^(\S.{0,300}?) {3}(?=\S)/.exec(text);
  return found === null ? { title: '', text } : { title: found[1]!, text: text.slice(found[0].length) };
}

/** A cell in double quotes, with those inside doubled; a text that merely begins and ends with a quote stays as it is. */
function unquoted(cell: string): string {
  if (cell.length < 2 || !cell.startsWith('"') || !cell.endsWith('"')) return cell;
  const inner = cell.slice(1, -1);
  return inner.replaceAll('""', '').includes('"') ? cell : inner.replaceAll('""', '"');
}
