/** What reading a corpus left out or repaired. Filled while the sources stream by. */
import { UserError } from '../../util/error.ts';

/** Harmless deviations that are repaired: a byte-order mark, Windows line ends, a number for an id. */
export type Repair = 'bom_removed' | 'crlf' | 'id_to_string';

/** Why a line, file or folder holds no usable document, and how that is told. */
export const reasons = {
  not_json: 'not JSON',
  malformed: 'not a document: a field is missing or of the wrong type',
  empty: 'no text',
  duplicate_id: 'id used twice',
  encoding: 'not UTF-8',
  damaged: 'damaged file',
  unreadable: 'file or folder that cannot be read',
} as const;
export type Reason = keyof typeof reasons;

export interface CorpusReport {
  /** The first document that cannot be used is an error. */
  readonly strict: boolean;
  /** Bytes read, and of all files once they are listed; gzip counts as it is on disk. */
  bytes: number;
  totalBytes: number;
  /** Files read. */
  files: number;
  /** Files in the folder that have another ending. */
  otherFiles: number;
  /** Links to folders, and files and folders whose name begins with a dot: passed over on purpose, strict or not. */
  linkedFolders: number;
  hidden: number;
  sources: number;
  /** Lines, files and folders without a usable document. */
  skipped: number;
  readonly skippedBy: Record<Reason, number>;
  /** The first `shownProblems` of the skipped: "file:line: what is wrong". */
  readonly problems: string[];
  /** Documents (or lines) that needed each repair. */
  readonly repairs: Record<Repair, number>;
}

const shownProblems = 20;

export const newReport = ({ strict = false } = {}): CorpusReport => ({
  strict,
  bytes: 0,
  totalBytes: 0,
  files: 0,
  otherFiles: 0,
  linkedFolders: 0,
  hidden: 0,
  sources: 0,
  skipped: 0,
  skippedBy: { not_json: 0, malformed: 0, empty: 0, duplicate_id: 0, encoding: 0, damaged: 0, unreadable: 0 },
  problems: [],
  repairs: { bom_removed: 0, crlf: 0, id_to_string: 0 },
});

export interface Problem {
  readonly reason: Reason;
  readonly problem: string;
}

/** @throws UserError in a strict reading. */
export function skip(report: CorpusReport, where: string, { reason, problem }: Problem): void {
  // Names and text come from the corpus: keep control characters away from the terminal.
  const line = `${where}: ${problem}`.replace(/\p{Cc}/gu, '?');
  if (report.strict) throw new UserError(`${line}. Repair it, or leave out --strict to pass over such documents.`);
  report.skipped++;
  report.skippedBy[reason]++;
  if (report.problems.length < shownProblems) report.problems.push(line);
}

/** For the user, in one line; null when every line and file was used. */
export const leftOut = ({ skipped, sources, problems }: CorpusReport, path: string): string | null =>
  skipped === 0
    ? null
    : `${path}: ${skipped} of ${skipped + sources} documents cannot be used and are left out, for example ${problems[0]}`;
