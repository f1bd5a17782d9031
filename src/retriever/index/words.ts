/**
 * The words of an index on disk, looked up without being loaded into a Map: a table of 2^n slots, each empty (0) or a word's
 * number plus one, at the hash of the word or the next free slot after it.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../util/error.ts';
import { files } from './manifest.ts';
import { readBytes, readU32, writeNumbers } from './raw.ts';

/** @param words in the order of their numbers. */
export function writeWords(dir: string, words: ReadonlyMap<string, number>): void {
  const starts = new Uint32Array(words.size + 1);
  const table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * words.size + 2)));
  const fd = openSync(join(dir, files.words), 'w');
  try {
    let batch: Buffer[] = [];
    let at = 0;
    for (const [word, id] of words) {
      const bytes = Buffer.from(word);
      let slot = hashOf(bytes) & (table.length - 1);
      while (table[slot] !== 0) slot = (slot + 1) & (table.length - 1);
      table[slot] = id + 1;
      batch.push(bytes);
      at += bytes.length;
      starts[id + 1] = at;
      if (batch.length === 1 << 14) {
        writeNumbers(fd, Buffer.concat(batch));
        batch = [];
      }
    }
    writeNumbers(fd, Buffer.concat(batch));
    if (at >= 2 ** 32)
      throw new UserError(`${dir}: the different words are longer than 4 GiB together; split the corpus`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  writeFile(join(dir, files.wordStarts), starts);
  writeFile(join(dir, files.wordTable), table);
}

function writeFile(file: string, numbers: Uint32Array): void {
  const fd = openSync(file, 'w');
  try {
    writeNumbers(fd, numbers);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Word to number. */
export async function openWords(dir: string): Promise<(word: string) => number | undefined> {
  const [text, starts, table] = await Promise.all([
    readBytes(join(dir, files.words)),
    readU32(join(dir, files.wordStarts)),
    readU32(join(dir, files.wordTable)),
  ]);
  const all = Buffer.from(text.buffer);
  return (word) => {
    const bytes = Buffer.from(word);
    for (let slot = hashOf(bytes) & (table.length - 1); table[slot] !== 0; slot = (slot + 1) & (table.length - 1)) {
      const id = table[slot]! - 1;
      if (bytes.equals(all.subarray(starts[id], starts[id + 1]))) return id;
    }
    return undefined;
  };
}

/** FNV-1a, 32 bits, with a last mix: the table takes the low bits. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  hash ^= hash >>> 16;
  return Math.imul(hash, 0x85ebca6b) >>> 0;
}
