/** Files that are whole or not there, and one line for a disk that failed: which path, what could not be done, what to do. */
import { access, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InfraError, messageOf, UserError } from './error.ts';

const CURES: Readonly<Record<string, string>> = {
  ENOSPC: 'Free space',
  EDQUOT: 'Free space or raise the disk quota',
  EFBIG: 'Raise the file size limit (ulimit -f) or use another disk',
  EACCES: 'Make the folder writable',
  EPERM: 'Make the folder writable',
  EROFS: 'Make the disk writable',
  ENOTDIR: 'Remove the file that is in the way of the folder',
  EMFILE: 'Raise the limit of open files (ulimit -n)',
};

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown';

export function diskError(path: string, doing: 'write' | 'read' | 'lock', error: unknown): InfraError {
  const cure = CURES[codeOf(error)] ?? 'Check the disk';
  return new InfraError(
    `${path}: cannot ${doing} (${messageOf(error)}). ${cure} and run the same command again: nothing finished is lost.`,
    { cause: error },
  );
}

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * Makes a folder and those around it, where they are missing. One by one: Node's own recursion never ends in /proc.
 * UserError: a file has the name. InfraError: the folder cannot be made.
 */
export async function makeFolder(dir: string): Promise<void> {
  const failed = await mkdir(dir).then(
    () => null,
    (error: unknown) => error,
  );
  if (failed === null) return;
  const above = dirname(dir);
  if (codeOf(failed) === 'EEXIST') {
    const found = await stat(dir).catch(() => null);
    if (found?.isDirectory()) return;
    if (found !== null) throw new UserError(`${dir}: is a file, and a folder is needed; name another folder`);
  }
  if (codeOf(failed) !== 'ENOENT' || above === dir || (await isFolder(above))) throw diskError(dir, 'write', failed);
  await makeFolder(above);
  await makeFolder(dir);
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Returns when the bytes survive a power cut. */
export async function writeDurably(file: string, content: Uint8Array | string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file, in place of an older one if there is one. */
export async function replaceFile(file: string, content: Uint8Array | string): Promise<void> {
  const temporary = `${file}.unfinished`;
  try {
    await writeDurably(temporary, content);
    await rename(temporary, file);
  } catch (error) {
    throw diskError(file, 'write', error);
  }
}
