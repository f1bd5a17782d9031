/** What a file of rows is, seen from its beginning: never from its name. */
import { UserError } from '../../util/error.ts';
import type { Opened } from './bytes.ts';

export type Container = 'jsonl' | 'json-array' | 'json-object' | 'csv' | 'tsv' | 'parquet';

export function containerOf({ head, short }: Pick<Opened, 'head' | 'short'>, path: string): Container {
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text === '') throw new UserError(`${path}: the file is empty`);
  if (text.startsWith('[')) return 'json-array';
  const end = text.indexOf('\n');
  const line = end < 0 ? text : text.slice(0, end);
  if (text.startsWith('{')) return objects(line, short && text.trimEnd() === line.trimEnd(), end < 0 && !short);
  if (line.includes('\t')) return 'tsv';
  if (line.includes(',')) return 'csv';
  throw new UserError(
    `${path}: neither JSON Lines, a JSON array, CSV, TSV nor Parquet; it begins with ${JSON.stringify(line.slice(0, 40))}`,
  );
}

/** One object a line, or one object over many lines (or with its rows inside, as TriviaQA has them). */
function objects(line: string, alone: boolean, cut: boolean): Container {
  if (cut) return /^\{\s*"data"\s*:\s*\[/i.test(line) ? 'json-object' : 'jsonl';
  try {
    const row: Record<string, unknown> = JSON.parse(line);
    return alone && (Array.isArray(row.Data) || Array.isArray(row.data)) ? 'json-object' : 'jsonl';
  } catch {
    // The first line of an object that is written over many; anything else is a damaged line, and is reported as one.
    return /[{[,]\s*$/.test(line) ? 'json-object' : 'jsonl';
  }
}
