/** JSON Lines: a document a line. */
import { isUtf8 } from 'node:buffer';
import { notUtf8 } from './document.ts';
import type { CorpusFile } from './files.ts';
import { parseCorpusLine } from './line.ts';
import { readLines } from './open.ts';
import type { Located } from './read.ts';
import { type CorpusReport, skip } from './report.ts';

export async function* readJsonLines({ path, name }: CorpusFile, report: CorpusReport): AsyncGenerator<Located> {
  for await (const { number, bytes } of readLines(path, report)) {
    const where = `${name}:${number}`;
    const line = isUtf8(bytes) ? bytes.toString() : undefined;
    if (line?.trim() === '') continue;
    const read = line === undefined ? notUtf8 : parseCorpusLine(line);
    if (!read.ok) {
      skip(report, where, read);
      continue;
    }
    for (const note of read.notes) report.repairs[note]++;
    yield { source: read.doc, where };
  }
}
