/**
 * `vectors.f32`: one float32 row a passage (little-endian), in corpus order, appended in blocks. Beside it `vectors.jsonl` says
 * on its first line what the rows are, then one line a block that is whole on disk: how many rows, and their content id.
 * What a killed build leaves behind the last whole block is cut when the file is opened again.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, diskError } from '../../util/disk.ts';
import { UserError } from '../../util/error.ts';
import { contentId } from '../../util/id.ts';
import { openAppender } from '../../util/jsonl.ts';

/** Rows that may be lost by a kill. */
export const BLOCK_ROWS = 256;

const vectorsFile = (dir: string): string => join(dir, 'vectors.f32');

/** Rows of another corpus or encoder are not taken up. */
export interface Origin {
  readonly corpus: string;
  readonly encoder: string;
  readonly dimension: number;
  readonly prefixes: { readonly query: string; readonly passage: string };
}

export interface Vectors {
  /** Rows that are safe on disk. */
  rows(): number;
  /** Returns when the block of at most BLOCK_ROWS rows survives a power cut. */
  append(block: Float32Array): Promise<void>;
  /** Of all rows. */
  id(): string;
  close(): Promise<void>;
}

interface Block {
  readonly rows: number;
  readonly id: string;
}

/** Opens the file for appending, made if missing, emptied if it is of another origin. @throws InfraError */
export async function openVectors(dir: string, { corpus, encoder, dimension, prefixes }: Origin): Promise<Vectors> {
  const [file, list] = [vectorsFile(dir), join(dir, 'vectors.jsonl')];
  const header = JSON.stringify({ version: 1, corpus, encoder, dimension, prefixes });
  const handle = await open(file, constants.O_RDWR | constants.O_CREAT).catch((error) => {
    throw diskError(file, 'write', error);
  });
  const attempt = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw diskError(file, 'write', error);
    });
  const width = 4 * dimension;
  const kept = await attempt(wholeBlocks(handle, await readList(list), header, width));
  const lines = await openAppender(list, kept.listBytes);
  const ids = kept.blocks.map((block) => block.id);
  let rows = kept.blocks.reduce((sum, block) => sum + block.rows, 0);
  await attempt(handle.truncate(rows * width));
  if (kept.listBytes === 0) await lines.append(header);
  return {
    rows: () => rows,
    async append(block) {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      const count = block.length / dimension;
      if (!Number.isInteger(count) || count === 0 || count > BLOCK_ROWS)
        throw new RangeError(`${file}: ${block.length} numbers are no block of rows of ${dimension}`);
      await attempt(handle.write(bytes, 0, bytes.length, rows * width));
      await attempt(handle.datasync());
      const id = contentId(bytes);
      await lines.append(JSON.stringify({ rows: count, id } satisfies Block));
      ids.push(id);
      rows += count;
    },
    id: () => contentId(ids.join('\n')),
    async close() {
      await lines.close();
      await handle.close();
    },
  };
}

const readList = (list: string): Promise<string> =>
  readFile(list, 'utf8').catch((error) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw diskError(list, 'read', error);
  });

/** The blocks from the start on whose bytes are there as listed, and how long the list of them is. */
async function wholeBlocks(handle: FileHandle, list: string, header: string, width: number) {
  const blocks: Block[] = [];
  const lines = list.split('\n').slice(0, -1);
  if (lines[0] !== header) return { blocks, listBytes: 0 };
  let listBytes = Buffer.byteLength(header) + 1;
  let at = 0;
  for (const line of lines.slice(1)) {
    const block = parseBlock(line);
    if (block === null) break;
    const bytes = Buffer.alloc(block.rows * width);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, at);
    if (bytesRead < bytes.length || contentId(bytes) !== block.id) break;
    blocks.push(block);
    at += bytes.length;
    listBytes += Buffer.byteLength(line) + 1;
  }
  return { blocks, listBytes };
}

function parseBlock(line: string): Block | null {
  try {
    const { rows, id } = JSON.parse(line) as Partial<Block>;
    const good = Number.isInteger(rows) && rows! > 0 && rows! <= BLOCK_ROWS && typeof id === 'string';
    return good ? { rows: rows!, id } : null;
  } catch {
    return null;
  }
}

/** The rows in pieces of at most `tileRows`, each in a buffer of its own. @throws UserError when there are others than said. */
export async function* readRows(
  dir: string,
  { rows, dimension }: { readonly rows: number; readonly dimension: number },
  tileRows: number,
): AsyncGenerator<Float32Array> {
  const file = vectorsFile(dir);
  const handle = await open(file, 'r').catch((error) => {
    throw diskError(file, 'read', error);
  });
  try {
    const { size } = await handle.stat();
    if (size !== 4 * rows * dimension)
      throw new UserError(
        `${file} has ${size} bytes; ${rows} rows of ${dimension} take ${4 * rows * dimension}. Build the index again.`,
      );
    for (let from = 0; from < rows; from += tileRows) {
      const tile = new Float32Array(Math.min(tileRows, rows - from) * dimension);
      const { bytesRead } = await handle.read(new Uint8Array(tile.buffer), 0, tile.byteLength, 4 * from * dimension);
      if (bytesRead !== tile.byteLength)
        throw new UserError(`${file}: became shorter while it was read. Build the index again.`);
      yield tile;
    }
  } finally {
    await handle.close();
  }
}
