/** A JSON array of documents (HippoRAG's corpus files); a row that holds none is left out. */
import { isUtf8 } from 'node:buffer';
import { ArrayFault, jsonElements } from '../../util/json-elements.ts';
import { notUtf8 } from './document.ts';
import type { CorpusFile } from './files.ts';
import { type CorpusRow, documentIn, parseCorpusRow } from './line.ts';
import { readBytes } from './open.ts';
import type { Located } from './read.ts';
import { type CorpusReport, type Problem, skip } from './report.ts';

export async function* readJsonArray({ path, name, named }: CorpusFile, report: CorpusReport): AsyncGenerator<Located> {
  let row = 0;
  try {
    for await (const bytes of jsonElements(readBytes(path, report), 'array', path)) {
      const where = `${name}:${++row}`;
      const source = documentIn(parsed(bytes, where), where, report);
      if (source !== null) yield { source, where };
    }
  } catch (error) {
    if (!(error instanceof ArrayFault)) throw error;
    // A folder may hold JSON of any kind.
    if (error.fault === 'no-array' && !named) report.otherFiles++;
    else skip(report, name, problems[error.fault]);
  }
}

const problems: Readonly<Record<ArrayFault['fault'], Problem>> = {
  'no-array': {
    reason: 'malformed',
    problem: 'not an array of {"title", "text"}; rename it to .jsonl if it holds an object a line',
  },
  'cut-short': { reason: 'damaged', problem: 'the array is not closed: the file is cut short' },
};

function parsed(bytes: Buffer, place: string): CorpusRow {
  if (!isUtf8(bytes)) return notUtf8;
  try {
    return parseCorpusRow(JSON.parse(bytes.toString()), place);
  } catch (error) {
    return { ok: false, reason: 'not_json', problem: `not JSON (${(error as Error).message})` };
  }
}
