/** One file, one document: the relative path is the id, its own title or else the file name the title. */
import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { messageOf } from '../../util/error.ts';
import { endingOf, type Reader, withoutGz } from './files.ts';
import { readWhole } from './open.ts';
import { type CorpusReport, type Problem, skip } from './report.ts';

export interface Document {
  readonly title: string | undefined;
  readonly text: string;
}

/** May throw on a damaged file. */
export type Parse = (bytes: Buffer, report: CorpusReport) => Document | Problem | Promise<Document | Problem>;

export const notUtf8 = {
  ok: false,
  reason: 'encoding',
  problem: 'not UTF-8 text; convert it (for example with iconv)',
} as const;

export function documentReader(parse: Parse): Reader {
  return async function* ({ path, name }, report) {
    const bytes = await readWhole(path, report);
    const document = await parsed(parse, bytes, report);
    if ('problem' in document) return skip(report, name, document);
    if (document.text.trim() === '') return skip(report, name, { reason: 'empty', problem: empty(bytes) });
    const fileName = basename(withoutGz(name));
    const title = document.title || fileName.slice(0, fileName.length - endingOf(fileName).length);
    yield { source: { id: name, title, text: document.text }, where: name };
  };
}

async function parsed(parse: Parse, bytes: Buffer, report: CorpusReport): Promise<Document | Problem> {
  try {
    return await parse(bytes, report);
  } catch (error) {
    return { reason: 'damaged', problem: `cannot be read (${messageOf(error)})` };
  }
}

const empty = (bytes: Buffer): string =>
  bytes.length === 0 || bytes.toString('latin1').trim() === '' ? 'the file is empty' : 'there is no text in it';

/** Text as it is written, but for a byte-order mark and Windows line ends. */
export function textDocument(titleOf: (text: string) => string | undefined): Parse {
  return (bytes, report) => {
    const text = decoded(bytes, report);
    return text === undefined ? notUtf8 : { title: titleOf(text), text };
  };
}

/** Undefined for what is not UTF-8 text. */
export function decoded(bytes: Buffer, report: CorpusReport): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  const raw = bytes.toString();
  if (raw.startsWith('\uFEFF')) report.repairs.bom_removed++;
  if (raw.includes('\r\n')) report.repairs.crlf++;
  return raw.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

/** Without the title where the text opens with it: an index takes it once. */
export function withoutTitle({ title, text }: Document): Document {
  const body = text.trimStart();
  if (title === undefined || !body.startsWith(`${title}\n`)) return { title, text };
  const rest = body.slice(title.length).trimStart();
  return { title, text: rest === '' ? text : rest };
}
