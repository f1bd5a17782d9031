/** Whether a folder holds a whole index: its manifest is readable, of this format, and every file has its size. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf, diskError } from '../../util/disk.ts';
import { UserError } from '../../util/error.ts';
import { files, IndexManifest, indexFormat } from './manifest.ts';

/** The folder an index is built in before it gets its name. */
export const buildingOf = (dir: string): string => `${dir.replace(/[/\\]+$/, '')}.building`;

/** The contents of the files are for index/checksum. @throws UserError: no index, one whose build was not finished, of another version, or damaged; each says what to do. */
export async function readManifest(dir: string): Promise<IndexManifest> {
  const text = await textOf(join(dir, files.manifest));
  if (text === null) throw await absent(dir);
  const json = parsed(text);
  const format = z.object({ format: z.unknown() }).safeParse(json);
  if (format.success && format.data.format !== indexFormat && format.data.format !== undefined)
    throw new UserError(
      `${dir}: an index of format ${JSON.stringify(format.data.format)}; this version reads ${indexFormat}. Build it again.`,
    );
  const manifest = IndexManifest.safeParse(json);
  if (!manifest.success) {
    const [issue] = manifest.error.issues;
    throw new UserError(
      `${dir}/${files.manifest}: not the manifest of an index (${issue!.path.join('.') || 'file'}: ${issue!.message}); build the index again`,
    );
  }
  for (const [name, { bytes }] of Object.entries(manifest.data.files)) await checkSize(dir, name, bytes);
  return manifest.data;
}

async function checkSize(dir: string, name: string, size: number): Promise<void> {
  const file = join(dir, name);
  const found = await stat(file).catch((error) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw diskError(file, 'read', error);
  });
  if (found?.size === size) return;
  const what = found === null ? 'is missing' : `has ${found.size} bytes, the manifest says ${size}`;
  throw new UserError(`${file} ${what}: the index is damaged or mixed with another; copy it again or build it again`);
}

async function absent(dir: string): Promise<UserError> {
  const own = await unfinished(dir);
  const beside = own ?? (await unfinished(buildingOf(dir)));
  if (beside !== null)
    return new UserError(`${dir}: the build of this index was not finished; run it again:\n  ${beside}`);
  const there = await stat(dir).catch(() => null);
  return there === null
    ? new UserError(`${dir}: no such folder; build an index with "crossfold index PATH --out ${dir}"`)
    : new UserError(
        `${dir}: no index here (${files.manifest} is missing); build one with "crossfold index PATH --out DIR"`,
      );
}

const Building = z.object({ command: z.string() });

/** The command that builds the index in this folder; null when no build was begun here. */
export async function unfinished(folder: string): Promise<string | null> {
  const text = await textOf(join(folder, files.building));
  if (text === null) return null;
  const building = Building.safeParse(parsed(text));
  return building.success ? building.data.command : null;
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error))) return null;
    throw diskError(file, 'read', error);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
