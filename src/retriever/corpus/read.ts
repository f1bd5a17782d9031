/** Reads a corpus, files or folders, as a stream of sources. */
import type { Source } from '../../types.ts';
import { UserError } from '../../util/error.ts';
import { filesOf, type Readers, readerOf } from './files.ts';
import { textReaders } from './readers.ts';
import { type CorpusReport, leftOut, newReport, skip } from './report.ts';
import { seenIds } from './seen.ts';

/** A source and where it stands: "file", or "file:row". */
export interface Located {
  readonly source: Source;
  readonly where: string;
}

export interface ReadOptions {
  /** Which files are read and how. Default: text as it is written (corpus/readers). */
  readonly readers?: Readers;
  /** Folders that are passed over. */
  readonly except?: readonly string[];
}

/**
 * Sources of all paths: of a file, or of every known file below a folder, in order of their relative paths (by code unit);
 * hidden files and linked folders are passed over. Lines, files and folders without a document, and the second of two equal ids,
 * are left out and noted in `report`. Throws UserError when a path cannot be read or holds no document at all.
 */
export async function* readSources(
  path: string | readonly string[],
  report: CorpusReport,
  { readers = textReaders, except = [] }: ReadOptions = {},
): AsyncGenerator<Source> {
  const paths = typeof path === 'string' ? [path] : path;
  const seen = seenIds();
  const before = report.skipped;
  for (const file of await filesOf(paths, readers, report, except)) {
    report.files++;
    for await (const { source, where } of readerOf(file.name, readers)!(file, report)) {
      if (!seen.add(source.id)) {
        const problem = `the id ${JSON.stringify(source.id)} is used twice`;
        skip(report, where, { reason: 'duplicate_id', problem });
        continue;
      }
      report.sources++;
      yield source;
    }
  }
  if (seen.size > 0) return;
  const skipped = report.skipped - before;
  const why = skipped === 0 ? 'it is empty' : `${skipped} could not be used, for example ${report.problems.at(-1)}`;
  throw new UserError(`No document in ${paths.join(', ')}: ${why}. ${readers.expected}`);
}

/** All sources of `path`, text as it is written; `warn` hears of what was left out. */
export async function readAll(path: string, warn: (text: string) => void): Promise<Source[]> {
  const report = newReport();
  const sources: Source[] = [];
  for await (const source of readSources(path, report)) sources.push(source);
  const missing = leftOut(report, path);
  if (missing !== null) warn(missing);
  return sources;
}
