/** The files of a corpus: a path is one file, or a folder with every file below it whose ending is known. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../../util/error.ts';
import { readError } from './open.ts';
import type { Located } from './read.ts';
import type { CorpusReport } from './report.ts';

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

/** Files in order of their names (by code unit) within each path; hidden files and linked folders are passed over. */
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
    const all = await walk(path, '', barred);
    const known = all.filter((name) => readerOf(name, readers) !== undefined);
    report.otherFiles += all.length - known.length;
    if (known.length === 0)
      throw new UserError(
        `No document in the folder ${path} (${all.length} files of other kinds). ${readers.expected}`,
      );
    for (const name of known.sort((a, b) => (a < b ? -1 : 1)))
      files.push({ path: join(path, name), name: `${prefix}${name}`, named: false });
  }
  for (const { path } of files) report.totalBytes += (await attempt(path, () => stat(path))).size;
  return files;
}

/** The deepest folder that all paths lie below. */
function folderAround(paths: readonly string[]): string {
  const [first = '', ...others] = paths.map((path) => dirname(resolve(path)));
  let around = first;
  while (others.some((other) => !`${other}${sep}`.startsWith(around.endsWith(sep) ? around : `${around}${sep}`)))
    around = dirname(around);
  return around;
}

/** Relative names, with forward slashes. */
async function walk(root: string, under: string, barred: ReadonlySet<string>): Promise<string[]> {
  const names: string[] = [];
  const folder = join(root, under);
  if (barred.has(resolve(folder))) return names;
  for (const entry of await attempt(folder, () => readdir(folder, { withFileTypes: true }))) {
    if (entry.name.startsWith('.')) continue;
    const name = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) names.push(...(await walk(root, name, barred)));
    else if (entry.isFile()) names.push(name);
    else if (entry.isSymbolicLink()) {
      const path = join(root, name);
      if ((await attempt(path, () => stat(path))).isFile()) names.push(name);
    }
  }
  return names;
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
