/** Parquet: columns id (or _id), title, and text (or contents), a row group at a time. */
import { statSync } from 'node:fs';
import {
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { codeOf } from '../../util/disk.ts';
import { InfraError, messageOf, UserError } from '../../util/error.ts';
import type { CorpusFile } from './files.ts';
import { documentIn, parseCorpusRow } from './line.ts';
import { readError } from './open.ts';
import type { Located } from './read.ts';
import { type CorpusReport, skip } from './report.ts';

const used: ReadonlySet<string> = new Set(['id', '_id', 'title', 'text', 'contents']);

export async function* readParquet({ path, name }: CorpusFile, report: CorpusReport): AsyncGenerator<Located> {
  let row = 0;
  const before = report.bytes;
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const { compressors } = await import('hyparquet-compressors');
    const columns = columnsOf(metadata);
    for (const group of metadata.row_groups) {
      const rowEnd = row + Number(group.num_rows);
      const rows = await parquetReadObjects({ file, metadata, columns, compressors, rowStart: row, rowEnd });
      for (const value of rows) {
        const where = `${name}:${++row}`;
        const source = documentIn(parseCorpusRow(value, where), where, report);
        if (source !== null) yield { source, where };
      }
      report.bytes += Number(group.total_compressed_size ?? 0);
    }
  } catch (error) {
    if (error instanceof UserError || error instanceof InfraError) throw error;
    if (codeOf(error) !== 'unknown') throw readError(path, error);
    skip(report, row === 0 ? name : `${name}:${row + 1}`, {
      reason: 'damaged',
      problem: `Parquet cannot be read (${messageOf(error)})`,
    });
  }
  report.bytes = before + statSync(path).size;
}

const columnsOf = (metadata: FileMetaData): string[] =>
  parquetSchema(metadata)
    .children.map(({ element }) => element.name)
    .filter((column) => used.has(column));
