/** What code this is: version of the package and, in a checkout, its commit. */
import { readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

const readOr = (path: string): string | null => {
  try {
    return readFileSync(new URL(path, ROOT), 'utf8').trim();
  } catch {
    return null;
  }
};

export const packageVersion = (): string => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string };
  return version;
};

/** Short commit id of HEAD, from the files of .git; null outside a checkout. */
export function commit(): string | null {
  const head = readOr('.git/HEAD');
  if (head === null) return null;
  const ref = head.startsWith('ref: ') ? head.slice(5) : null;
  const id = ref === null ? head : (readOr(`.git/${ref}`) ?? packed(ref));
  return id !== null && /^[0-9a-f]{40,}$/.test(id) ? id.slice(0, 7) : null;
}

const packed = (ref: string): string | null =>
  readOr('.git/packed-refs')
    ?.split('\n')
    .find((line) => line.endsWith(` ${ref}`))
    ?.split(' ')[0] ?? null;

/** `0.1.0+1a2b3c4` */
export const codeVersion = (): string => [packageVersion(), commit()].filter((part) => part !== null).join('+');
