/** What reading a corpus left out or repaired. Filled while the sources stream by. */

/** Harmless deviations that are repaired: a byte-order mark, Windows line ends, a number for an id. */
export type Repair = 'bom_removed' | 'crlf' | 'id_to_string';

export interface CorpusReport {
  /** Files read. */
  files: number;
  /** Files in the folder that have another ending. */
  otherFiles: number;
  sources: number;
  /** Lines or files without a usable document. */
  skipped: number;
  /** The first `shownProblems` of the skipped: "file:line: what is wrong". */
  readonly problems: string[];
  /** Documents (or lines) that needed each repair. */
  readonly repairs: Record<Repair, number>;
}

const shownProblems = 20;

export const newReport = (): CorpusReport => ({
  files: 0,
  otherFiles: 0,
  sources: 0,
  skipped: 0,
  problems: [],
  repairs: { bom_removed: 0, crlf: 0, id_to_string: 0 },
});

export function skip(report: CorpusReport, where: string, problem: string): void {
  report.skipped++;
  // Names and text come from the corpus: keep control characters away from the terminal.
  if (report.problems.length < shownProblems) report.problems.push(`${where}: ${problem}`.replace(/\p{Cc}/gu, '?'));
}

/** For the user, in one line; null when every line and file was used. */
export const leftOut = ({ skipped, sources, problems }: CorpusReport, path: string): string | null =>
  skipped === 0
    ? null
    : `${path}: ${skipped} of ${skipped + sources} documents cannot be used and are left out, for example ${problems[0]}`;
