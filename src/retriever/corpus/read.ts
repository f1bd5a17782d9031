/** Reads a corpus, one file or a folder, as a stream of sources. */
import { isUtf8 } from 'node:buffer';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Source } from '../../types.ts';
import { UserError } from '../../util/error.ts';
import { parseCorpusLine } from './line.ts';
import { readError, readLines, readWhole } from './open.ts';
import { type CorpusReport, leftOut, newReport, skip } from './report.ts';
import { markdownTitle, rstTitle } from './title.ts';

interface File {
  readonly path: string;
  /** Relative to the corpus, with forward slashes. */
  readonly name: string;
}

/** A source and where it stands: "file", or "file:line". */
interface Located {
  readonly source: Source;
  readonly where: string;
}

type Reader = (file: File, report: CorpusReport) => AsyncIterable<Located>;

/** File endings and who reads them; each may be followed by .gz. */
const readers: Readonly<Record<string, Reader>> = {
  '.md': documentReader(markdownTitle),
  '.markdown': documentReader(markdownTitle),
  '.rst': documentReader(rstTitle),
  '.txt': documentReader(() => undefined),
  '.jsonl': readJsonLines,
  '.ndjson': readJsonLines,
};

const expected =
  'Expected .md, .rst or .txt documents, or .jsonl with {"id", "title", "text"} or {"id", "contents"} a line; each may be .gz.';

/**
 * Sources of `path`: of a file, or of every known file below a folder, in order of their relative paths (by code unit);
 * hidden files and linked folders are passed over. Lines and files without a document, and the second of two equal ids,
 * are left out and noted in `report`. Throws UserError when the path cannot be read or holds no document at all.
 */
export async function* readSources(path: string, report: CorpusReport): AsyncGenerator<Source> {
  const seen = new Set<string>();
  const before = report.skipped;
  for (const file of await filesOf(path, report)) {
    report.files++;
    for await (const { source, where } of readerOf(file.name)!(file, report)) {
      if (seen.has(source.id)) {
        skip(report, where, `the id ${JSON.stringify(source.id)} is used twice`);
        continue;
      }
      seen.add(source.id);
      report.sources++;
      yield source;
    }
  }
  if (seen.size > 0) return;
  const skipped = report.skipped - before;
  const why = skipped === 0 ? 'it is empty' : `${skipped} could not be used, for example ${report.problems.at(-1)}`;
  throw new UserError(`No document in ${path}: ${why}. ${expected}`);
}

/** All sources of `path`; `warn` hears of what was left out. */
export async function readAll(path: string, warn: (text: string) => void): Promise<Source[]> {
  const report = newReport();
  const sources: Source[] = [];
  for await (const source of readSources(path, report)) sources.push(source);
  const missing = leftOut(report, path);
  if (missing !== null) warn(missing);
  return sources;
}

async function filesOf(path: string, report: CorpusReport): Promise<readonly File[]> {
  const found = await attempt(path, () => stat(path));
  if (!found.isDirectory()) {
    if (readerOf(path) === undefined)
      throw new UserError(`Cannot use ${path} as a corpus: unknown ending. ${expected}`);
    return [{ path, name: basename(path) }];
  }
  const all = await walk(path, '');
  const known = all.filter((file) => readerOf(file.name) !== undefined);
  report.otherFiles += all.length - known.length;
  if (known.length === 0)
    throw new UserError(`No document in the folder ${path} (${all.length} files of other kinds). ${expected}`);
  return known.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function walk(root: string, under: string): Promise<File[]> {
  const files: File[] = [];
  const folder = join(root, under);
  for (const entry of await attempt(folder, () => readdir(folder, { withFileTypes: true }))) {
    if (entry.name.startsWith('.')) continue;
    const name = under === '' ? entry.name : `${under}/${entry.name}`;
    const path = join(root, name);
    if (entry.isDirectory()) files.push(...(await walk(root, name)));
    else if (entry.isFile()) files.push({ path, name });
    else if (entry.isSymbolicLink() && (await attempt(path, () => stat(path))).isFile()) files.push({ path, name });
  }
  return files;
}

async function attempt<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw readError(path, error);
  }
}

const withoutGz = (name: string): string => name.replace(/\.gz$/i, '');

const endingOf = (name: string): string => /\.[^./\\]*$/.exec(withoutGz(name))?.[0] ?? '';

function readerOf(name: string): Reader | undefined {
  const ending = endingOf(name).toLowerCase();
  return Object.hasOwn(readers, ending) ? readers[ending] : undefined;
}

async function* readJsonLines({ path, name }: File, report: CorpusReport): AsyncGenerator<Located> {
  for await (const { number, bytes } of readLines(path)) {
    const where = `${name}:${number}`;
    const line = isUtf8(bytes) ? bytes.toString() : undefined;
    if (line?.trim() === '') continue;
    const read = line === undefined ? notUtf8 : parseCorpusLine(line);
    if (!read.ok) {
      skip(report, where, read.problem);
      continue;
    }
    for (const note of read.notes) report.repairs[note]++;
    yield { source: read.doc, where };
  }
}

/** One file, one document: the relative path is the id, the first heading or else the file name the title. */
function documentReader(titleOf: (text: string) => string | undefined): Reader {
  return async function* ({ path, name }, report) {
    const bytes = await readWhole(path);
    if (!isUtf8(bytes) || bytes.includes(0)) return skip(report, name, notUtf8.problem);
    const raw = bytes.toString();
    if (raw.startsWith('\uFEFF')) report.repairs.bom_removed++;
    if (raw.includes('\r\n')) report.repairs.crlf++;
    const text = raw.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
    if (text.trim() === '') return skip(report, name, 'the file is empty');
    const fileName = basename(withoutGz(name));
    const title = titleOf(text) ?? fileName.slice(0, -endingOf(fileName).length);
    yield { source: { id: name, title, text }, where: name };
  };
}

const notUtf8 = { ok: false, problem: 'not UTF-8 text; convert it (for example with iconv)' } as const;
