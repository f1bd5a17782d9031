/** One line for a disk that failed: which path, what could not be done, what to do. */
import { InfraError, messageOf } from './error.ts';

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
