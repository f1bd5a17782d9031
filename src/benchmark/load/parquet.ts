/** Rows of a Parquet file, a row group at a time; columns of whole passages can be left unread. */
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  toJson,
} from 'hyparquet';
import { readError } from '../../retriever/corpus/open.ts';
import { InfraError, messageOf, UserError } from '../../util/error.ts';

/** Rows decoded at once. */
const batch = 2000;

export async function* parquetRows(path: string, without: readonly string[]): AsyncGenerator<Record<string, unknown>> {
  const file = await attempt(path, () => asyncBufferFromFile(path));
  const metadata = await attempt(path, () => parquetMetadataAsync(file));
  const { compressors } = await import('hyparquet-compressors');
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const columns = names.filter((name) => !without.includes(name));
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    for (; start < end; start = Math.min(end, start + batch))
      yield* await attempt(path, () => rowsOf(file, columns, start, Math.min(end, start + batch)));
  }

  async function rowsOf(from: AsyncBuffer, wanted: string[], rowStart: number, rowEnd: number) {
    const rows = await parquetReadObjects({ file: from, metadata, columns: wanted, rowStart, rowEnd, compressors });
    return rows.map((row) => toJson(row) as Record<string, unknown>);
  }
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const told = readError(path, error);
    // Anything that is no failure of the disk is a file that does not decode.
    throw told instanceof InfraError && !(error instanceof Error && 'code' in error)
      ? new UserError(`${path}: not a Parquet file, or damaged (${messageOf(error)}); fetch it again`)
      : told;
  }
}
