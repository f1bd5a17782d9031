/** Finds the question files of the seven sets in a folder, and pools the files of each set. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readError } from '../retriever/corpus/open.ts';
import { UserError } from '../util/error.ts';
import { type LoadReport, loadQuestions } from './load/questions.ts';
import { refuseSharedIds } from './manifest.ts';
import type { ExamQuestion } from './result.ts';
import { SEVEN, setNamed } from './seven.ts';

export interface QuestionFile {
  readonly set: string;
  readonly path: string;
}

/** `nq.jsonl.gz` is `nq`. */
export const stemOf = (path: string): string =>
  basename(path)
    .replace(/\.gz$/i, '')
    .replace(/\.[^.]*$/, '');

const endings = /\.(jsonl|ndjson|json|csv|tsv|parquet)(\.gz)?$/i;

/**
 * @param given folders, or SET=FILE. A folder gives each set the file that is named after it, or the files in a folder named
 * after it; files named for a set by SET=FILE take the place of those, and are pooled when there are several.
 */
export async function findQuestionFiles(given: readonly string[]): Promise<readonly QuestionFile[]> {
  const found = new Map<string, string[]>();
  const named = new Map<string, string[]>();
  for (const entry of given) {
    const at = entry.indexOf('=');
    const set = at < 0 ? null : setNamed(entry.slice(0, at));
    if (at >= 0 && set === null)
      throw new UserError(
        `--questions ${entry}: no set is called "${entry.slice(0, at)}"; expected SET=FILE with SET of ${SEVEN.map(({ name }) => name).join(', ')}`,
      );
    if (set !== null) named.set(set.name, [...(named.get(set.name) ?? []), ...(await filesOf(entry.slice(at + 1)))]);
    else for (const file of await namedFiles(entry)) found.set(file.set, [...(found.get(file.set) ?? []), file.path]);
  }
  for (const [set, paths] of found) {
    if (paths.length > 1 && !named.has(set))
      throw new UserError(
        `Several files are named after ${set}: ${paths.join(', ')}. Say which with --questions ${set}=FILE (twice for both).`,
      );
  }
  return SEVEN.flatMap(({ name }) => (named.get(name) ?? found.get(name) ?? []).map((path) => ({ set: name, path })));
}

async function namedFiles(folder: string): Promise<QuestionFile[]> {
  const entries = await attempt(folder, () => readdir(folder, { withFileTypes: true }));
  const out: QuestionFile[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const set = setNamed(entry.isDirectory() ? entry.name : stemOf(entry.name));
    if (set === null || (!entry.isDirectory() && !endings.test(entry.name))) continue;
    for (const file of await filesOf(path)) out.push({ set: set.name, path: file });
  }
  return out;
}

/** A file, or the question files right below a folder: as the shards of a Parquet data set lie there. */
async function filesOf(path: string): Promise<string[]> {
  if (!(await attempt(path, () => stat(path))).isDirectory()) return [path];
  const names = (await attempt(path, () => readdir(path))).filter((name) => endings.test(name)).sort();
  if (names.length === 0)
    throw new UserError(
      `${path}: no question file here; expected .jsonl, .json, .csv, .tsv or .parquet, or .gz of them`,
    );
  const splits = [
    ...new Set(names.flatMap((name) => /^(train|validation|valid|val|dev|test)\b/i.exec(name)?.[1] ?? [])),
  ];
  if (splits.length > 1)
    throw new UserError(
      `${path} holds several splits (${splits.join(', ')}); name the files of one with --questions SET=FILE, for example ${join(path, names.at(-1)!)}.`,
    );
  return names.map((name) => join(path, name));
}

export interface Pools {
  readonly bySet: ReadonlyMap<string, readonly ExamQuestion[]>;
  readonly reports: readonly (LoadReport & { readonly set: string })[];
}

/** Loads them all. A question that two files of a set hold under one id counts once. */
export async function loadPools(
  files: readonly QuestionFile[],
  form?: string,
  progress: (file: QuestionFile, share: number | null) => void = () => {},
): Promise<Pools> {
  const bySet = new Map<string, ExamQuestion[]>();
  const reports: (LoadReport & { set: string })[] = [];
  for (const file of files) {
    const { set, path } = file;
    const watched = { set, progress: (share: number | null) => progress(file, share) };
    const { questions, report } = await loadQuestions(path, form === undefined ? watched : { ...watched, form });
    reports.push({ set, ...report });
    const pool = bySet.get(set) ?? [];
    bySet.set(set, pool);
    const held = new Map(pool.map((question) => [question.id, question.question]));
    for (const question of questions) if (held.get(question.id) !== question.question) pool.push({ ...question, set });
  }
  refuseSharedIds([...bySet.values()].flat());
  return { bySet, reports };
}

async function attempt<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw readError(path, error);
  }
}
