/** The files of a corpus: a path is one file, or a folder with every file below it whose ending is known. */
import { access, constants, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../../util/error.ts';
import { readError, reasonOf } from './open.ts';
import type { Located } from './read.ts';
import { type CorpusReport, skip } from './report.ts';

export interface CorpusFile {
  readonly path: string;
  /** Relative to the path that was given, or to the folder around all of them where there are several; forward slashes. */
  readonly name: string;
  /** Given by the user, not found in a folder. */
  readonly named: boolean;
}

export type Reader = (file: CorpusFile, report: CorpusReport) => AsyncIterable<Located>;

/** File endings and who reads them. */
export interface Readers {
  readonly byEnding: Readonly<Record<string, Reader>>;
  /** The endings for people: "Expected ...". */
  readonly expected: string;
}

/**
 * Files in order of their names (by code unit) within each path. Hidden files and linked folders are passed over and counted;
 * what is found in a folder and cannot be read is left out and noted in `report`.
 */
export async function filesOf(
  paths: readonly string[],
  readers: Readers,
  report: CorpusReport,
  except: readonly string[],
): Promise<readonly CorpusFile[]> {
  const barred = new Set(except.map((path) => resolve(path)));
  const around = folderAround(paths);
  const files: CorpusFile[] = [];
  for (const path of paths) {
    const under = relative(paths.length === 1 ? path : around, path)
      .split(sep)
      .join('/');
    const prefix = under === '' ? '' : `${under}/`;
    const found = await attempt(path, () => stat(path));
    if (!found.isDirectory()) {
      if (readerOf(path, readers) === undefined)
        throw new UserError(`Cannot use ${path} as a corpus: unknown ending. ${readers.expected}`);
      files.push({ path, name: under === '' ? basename(path) : under, named: true });
      continue;
    }
    const before = report.skipped;
    const all = await walk({ root: path, prefix, barred, report }, '');
    const known = all.filter((name) => readerOf(name, readers) !== undefined);
    report.otherFiles += all.length - known.length;
    if (known.length === 0) {
      const unread = report.skipped === before ? '' : `; not read: ${report.problems.at(-1)}`;
      throw new UserError(
        `No document in the folder ${path} (${all.length} files of other kinds${unread}). ${readers.expected}`,
      );
    }
    for (const name of known.sort((a, b) => (a < b ? -1 : 1)))
      files.push({ path: join(path, name), name: `${prefix}${name}`, named: false });
  }
  const readable: CorpusFile[] = [];
  for (const file of files) {
    const size = await sizeOf(file, report);
    if (size === null) continue;
    report.totalBytes += size;
    readable.push(file);
  }
  return readable;
}

/** The deepest folder that all paths lie below. */
function folderAround(paths: readonly string[]): string {
  const [first = '', ...others] = paths.map((path) => dirname(resolve(path)));
  let around = first;
  while (others.some((other) => !`${other}${sep}`.startsWith(around.endsWith(sep) ? around : `${around}${sep}`)))
    around = dirname(around);
  return around;
}

/** Null for a file found in a folder that may not be read. */
async function sizeOf({ path, name, named }: CorpusFile, report: CorpusReport): Promise<number | null> {
  const size = async (): Promise<number> => {
    await access(path, constants.R_OK);
    return (await stat(path)).size;
  };
  return named ? attempt(path, size) : orSkip(path, name, report, size);
}

interface Walk {
  readonly root: string;
  /** Before every name the user is told. */
  readonly prefix: string;
  readonly barred: ReadonlySet<string>;
  readonly report: CorpusReport;
}

/** Relative names, with forward slashes. */
async function walk(of: Walk, under: string): Promise<string[]> {
  const { root, prefix, barred, report } = of;
  const names: string[] = [];
  const folder = join(root, under);
  if (barred.has(resolve(folder))) return names;
  const list = () => readdir(folder, { withFileTypes: true });
  // The folder that the user named has to be there.
  const entries = under === '' ? await attempt(folder, list) : await orSkip(folder, `${prefix}${under}`, report, list);
  for (const entry of entries ?? []) {
    if (entry.name.startsWith('.')) {
      report.hidden++;
      continue;
    }
    const name = under === '' ? entry.name : `${under}/${entry.name}`;
    const path = join(root, name);
    if (entry.isDirectory()) {
      names.push(...(await walk(of, name)));
      continue;
    }
    const found = entry.isSymbolicLink() ? await orSkip(path, `${prefix}${name}`, report, () => stat(path)) : entry;
    if (found === null) continue;
    if (found.isFile()) names.push(name);
    else if (found.isDirectory()) report.linkedFolders++;
    else report.otherFiles++;
  }
  return names;
}

/** Null where the path is to blame: it is left out. @throws UserError in a strict reading; InfraError of the disk. */
async function orSkip<T>(path: string, name: string, report: CorpusReport, call: () => Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw readError(path, error);
    skip(report, name, { reason: 'unreadable', problem: `cannot be read: ${reason}` });
    return null;
  }
}

async function attempt<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw readError(path, error);
  }
}

/** `.md` of `notes.md.gz`; as it is written. */
export const endingOf = (name: string): string => /\.[^./\\]*$/.exec(withoutGz(name))?.[0] ?? '';

export const withoutGz = (name: string): string => name.replace(/\.gz$/i, '');

export function readerOf(name: string, { byEnding }: Readers): Reader | undefined {
  const ending = endingOf(name).toLowerCase();
  return Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
}
