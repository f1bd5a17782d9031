/** Arrays of numbers as raw little-endian files. */
import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { diskError } from '../../util/disk.ts';
import { UserError } from '../../util/error.ts';

type Numbers = Uint32Array | Float32Array | BigUint64Array;

/** Most bytes of one read: the system takes less than 2 GiB. */
const step = 1 << 28;

export const readU32 = (file: string): Promise<Uint32Array> => read(file, (bytes) => new Uint32Array(bytes));
export const readF32 = (file: string): Promise<Float32Array> => read(file, (bytes) => new Float32Array(bytes));
export const readU64 = (file: string): Promise<BigUint64Array> => read(file, (bytes) => new BigUint64Array(bytes));
export const readBytes = (file: string): Promise<Uint8Array> => read(file, (bytes) => new Uint8Array(bytes));

async function read<T>(file: string, as: (bytes: ArrayBuffer) => T): Promise<T> {
  if (endianness() !== 'LE') throw new UserError(`${file}: index files need a little-endian processor`);
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const bytes = new ArrayBuffer(size);
      for (let at = 0; at < size; ) {
        const { bytesRead } = await handle.read(new Uint8Array(bytes, at, Math.min(step, size - at)), { position: at });
        if (bytesRead === 0) throw new Error('the file became shorter');
        at += bytesRead;
      }
      return as(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw diskError(file, 'read', error);
  }
}

/** Writes a whole array, or appends to an open file. */
export function writeNumbers(fd: number, numbers: Numbers | Uint8Array): void {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, Math.min(step, bytes.length - at));
}
