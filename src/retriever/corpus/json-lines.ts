/** JSON Lines: a document a line. */
import { isUtf8 } from 'node:buffer';
import { notUtf8 } from './document.ts';
import type { CorpusFile } from './files.ts';
import { documentIn, parseCorpusLine } from './line.ts';
import { readLines } from './open.ts';
import type { Located } from './read.ts';
import type { CorpusReport } from './report.ts';

export async function* readJsonLines({ path, name }: CorpusFile, report: CorpusReport): AsyncGenerator<Located> {
  for await (const { number, bytes } of readLines(path, report)) {
    const where = `${name}:${number}`;
    const line = isUtf8(bytes) ? bytes.toString() : undefined;
    if (line?.trim() === '') continue;
    const source = documentIn(line === undefined ? notUtf8 : parseCorpusLine(line), where, report);
    if (source !== null) yield { source, where };
  }
}
