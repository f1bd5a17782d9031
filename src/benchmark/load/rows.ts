/** The rows of a file of questions, predictions or logs, whatever holds them: see container.ts. A damaged row ends the reading, unless somebody else is told of it. */
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { messageOf, UserError } from '../../util/error.ts';
import { jsonElements } from '../../util/json-elements.ts';
import { lineSplitter, parseLine } from '../../util/jsonl.ts';
import { openBytes } from './bytes.ts';
import { type Container, containerOf } from './container.ts';
import { parquetRows } from './parquet.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Located {
  readonly row: Row;
  /** "file:line" or "file, row 7". */
  readonly where: string;
}

export interface Rows {
  readonly container: Container;
  readonly rows: AsyncGenerator<Located>;
  /** Share of the file that was read so far; null when it is not known. */
  readonly share: () => number | null;
}

/** Hears of a damaged row, with its place; what it throws ends the reading. */
export type Damaged = (problem: UserError) => void;

const stop: Damaged = (problem) => {
  throw problem;
};

/** @param without columns that need not be read where that saves work. */
export async function openRows(path: string, without: readonly string[] = [], damaged: Damaged = stop): Promise<Rows> {
  const opened = await openBytes(path);
  const container = containerOf(opened, path);
  return { container, rows: read(), share: container === 'parquet' ? () => null : opened.share };

  async function* read(): AsyncGenerator<Located> {
    const { chunks } = opened;
    switch (container) {
      case 'jsonl':
        return yield* lines(chunks, path, damaged);
      case 'json-array':
      case 'json-object':
        return yield* elements(chunks, container, path, damaged);
      case 'csv':
      case 'tsv':
        return yield* delimited(chunks, container === 'tsv' ? '\t' : ',', path, damaged);
      case 'parquet': {
        let n = 0;
        for await (const row of parquetRows(path, without)) yield { row, where: `${path}, row ${++n}` };
        return;
      }
      default:
        return container satisfies never;
    }
  }
}

/** Null: the row is damaged, and somebody was told. */
function attempt(read: () => Located | null, damaged: Damaged): Located | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    damaged(error);
    return null;
  }
}

/** Of a file that is known to be JSON Lines; none of an empty one. */
export async function* readJsonLines(path: string): AsyncGenerator<Located> {
  yield* lines((await openBytes(path)).chunks, path, stop);
}

async function* lines(chunks: AsyncIterable<Buffer>, path: string, damaged: Damaged): AsyncGenerator<Located> {
  const splitter = lineSplitter(path);
  const located = function* (all: Iterable<ReturnType<typeof splitter.push>[number]>): Generator<Located> {
    for (const line of all) {
      const where = `${path}:${line.number}`;
      const read = attempt(() => {
        const value = parseLine(line, path);
        return value === undefined ? null : { row: asRow(value, where), where };
      }, damaged);
      if (read !== null) yield read;
    }
  };
  for await (const chunk of chunks) yield* located(splitter.push(chunk));
  const rest = splitter.rest();
  if (rest !== null) yield* located([rest]);
}

/** A single object without rows inside holds texts by id, as prediction files of TriviaQA and SQuAD do, or is itself the row. */
async function* elements(
  chunks: AsyncIterable<Buffer>,
  container: 'json-array' | 'json-object',
  path: string,
  damaged: Damaged,
): AsyncGenerator<Located> {
  let n = 0;
  const seen: Buffer[] = [];
  const kept = container === 'json-array' ? chunks : remember(chunks, seen, () => n > 0);
  for await (const bytes of jsonElements(kept, container === 'json-array' ? 'array' : 'object', path)) {
    const where = `${path}, element ${++n}`;
    const read = attempt(() => ({ row: asRow(jsonOf(bytes, where), where), where }), damaged);
    if (read !== null) yield read;
  }
  if (n > 0 || container === 'json-array') return;
  const whole = asRow(jsonOf(Buffer.concat(seen), path), path);
  if (['id', '_id', 'question', 'Question', 'prediction', 'answer'].some((key) => key in whole)) {
    yield { row: whole, where: path };
    return;
  }
  for (const [id, prediction] of Object.entries(whole)) {
    const where = `${path}, ${JSON.stringify(id)}`;
    if (typeof prediction !== 'string') throw new UserError(`${where}: expected rows, or texts by id`);
    yield { row: { id, prediction }, where };
  }
}

/** Objects without rows inside are small. */
const mostRemembered = 64 * 1024 * 1024;

async function* remember(chunks: AsyncIterable<Buffer>, seen: Buffer[], found: () => boolean): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (found() || size > mostRemembered) seen.length = 0;
    else seen.push(chunk);
    yield chunk;
  }
}

async function* delimited(
  chunks: AsyncIterable<Buffer>,
  delimiter: string,
  path: string,
  damaged: Damaged,
): AsyncGenerator<Located> {
  const parser = parse({
    delimiter,
    bom: true,
    columns: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: 2 ** 26,
    info: true,
    skip_records_with_error: damaged !== stop,
    on_skip: (error) => {
      damaged(new UserError(`${path}:${error?.lines ?? '?'}: ${messageOf(error)}`));
    },
  });
  const source = Readable.from(chunks);
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: Row; info: { lines: number } }>)
      yield { row: record, where: `${path}:${info.lines}` };
  } catch (error) {
    const code = (error as Partial<CsvError>).code;
    if (typeof code !== 'string' || !code.startsWith('CSV_')) throw error;
    throw new UserError(`${path}: ${messageOf(error)}; expected a heading and as many cells in every row`);
  } finally {
    source.destroy();
  }
}

function asRow(value: unknown, where: string): Row {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Row;
  throw new UserError(`${where}: not an object; expected one object with named fields for each row`);
}

function jsonOf(bytes: Buffer, where: string): unknown {
  if (!isUtf8(bytes)) throw new UserError(`${where}: not UTF-8; save the file as UTF-8`);
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UserError(`${where}: not JSON (${messageOf(error)})`);
  }
}
