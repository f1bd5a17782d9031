/** Size and SHA-256 of the files of an index: a file may be damaged and keep its size. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { diskError } from '../../util/disk.ts';
import { UserError } from '../../util/error.ts';
import { type FileSum, files, type IndexManifest } from './manifest.ts';

/** Reads the file once, as a stream. @throws InfraError when it cannot be read. */
export async function sumOf(file: string): Promise<FileSum> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    throw diskError(file, 'read', error);
  }
  return { bytes, sha256: hash.digest('hex') };
}

const { manifest: _m, building: _b, dense: _d, ...needed } = files;

/** Reads every file of an index whose sizes are right. @throws UserError that names the first damaged one. */
export async function checkSums(dir: string, { files: sums }: IndexManifest): Promise<void> {
  for (const name of Object.values(needed))
    if (!Object.hasOwn(sums, name))
      throw new UserError(`${join(dir, files.manifest)} does not list ${name}; build the index again`);
  for (const [name, { sha256 }] of Object.entries(sums)) {
    const file = join(dir, name);
    if ((await sumOf(file)).sha256 !== sha256)
      throw new UserError(
        `${file} is damaged: its checksum is not that of the manifest; copy the index again or build it again`,
      );
  }
}
