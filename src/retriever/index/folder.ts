/**
 * The folder an index is built in, beside the one it becomes: DIR.building is renamed to DIR when everything is written, so DIR
 * is a whole index or not there. Only folders that are indexes, or unfinished ones, are ever replaced.
 */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, diskError, makeFolder, replaceFile } from '../../util/disk.ts';
import { UserError } from '../../util/error.ts';
import { buildingOf, unfinished } from './check.ts';
import { sumOf } from './checksum.ts';
import { type FileSum, files, type IndexManifest } from './manifest.ts';

export interface BuildFolder {
  /** Where to write. */
  readonly path: string;
  /** Writes the manifest and gives the index its name, in place of an older one. */
  finish(manifest: Omit<IndexManifest, 'files'>): Promise<IndexManifest>;
  /** Removes what was written, unless vectors are there that the next build can take up. */
  discard(): Promise<void>;
}

/** @throws UserError when a folder is in the way that is no index. */
export async function openBuildFolder(out: string, command: string, keepDense: boolean): Promise<BuildFolder> {
  const path = buildingOf(out);
  await refuseForeign(out, async (names) => names.includes(files.manifest) && names.includes(files.passages));
  await refuseForeign(path, async () => (await unfinished(path)) !== null);
  await makeFolder(path);
  for (const name of await attempt(path, () => readdir(path)))
    if (!(keepDense && name === files.dense)) await removed(join(path, name));
  await replaceFile(join(path, files.building), `${JSON.stringify({ command })}\n`);
  return {
    path,
    async finish(rest) {
      const manifest = { ...rest, files: await sumsOf(path) };
      await replaceFile(join(path, files.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
      const old = `${path}.old`;
      await attempt(out, async () => {
        await rm(old, { recursive: true, force: true });
        await rename(out, old).catch(ignoreAbsent);
        await rename(path, out);
        await rm(join(out, files.building));
        await rm(old, { recursive: true, force: true });
      });
      return manifest;
    },
    async discard() {
      const names: string[] = await readdir(path).catch(() => []);
      if (!names.includes(files.dense)) await rm(path, { recursive: true, force: true });
    },
  };
}

async function refuseForeign(dir: string, ours: (names: readonly string[]) => Promise<boolean>): Promise<void> {
  const found = await stat(dir).catch(ignoreAbsent);
  if (found === undefined) return;
  if (!found.isDirectory()) throw new UserError(`${dir} is a file; give --out a folder that is not there yet`);
  const names = await attempt(dir, () => readdir(dir));
  if (names.length === 0 || (await ours(names))) return;
  throw new UserError(
    `${dir} is not empty and no index: it is left as it is. Give --out a folder that is not there yet, or delete this one.`,
  );
}

/** Sizes and checksums of every file but the note of the build, by relative path. */
async function sumsOf(root: string, under = ''): Promise<Record<string, FileSum>> {
  const sums: Record<string, FileSum> = {};
  for (const entry of await attempt(root, () => readdir(join(root, under), { withFileTypes: true }))) {
    const name = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(sums, await sumsOf(root, name));
    else if (name !== files.building) sums[name] = await sumOf(join(root, name));
  }
  return sums;
}

const removed = (path: string): Promise<void> => attempt(path, () => rm(path, { recursive: true }));

function ignoreAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

async function attempt<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw diskError(path, 'write', error);
  }
}
