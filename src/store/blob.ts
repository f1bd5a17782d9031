/** Content-addressed files: blobs/ab/cdef…, named by what is in them. A blob is whole or not there. */
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../store.ts';
import { codeOf, diskError, exists, writeDurably } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { contentId, isContentId } from '../util/id.ts';

let temporaries = 0;

/** Unfinished writes, inside the blob folder; may be emptied when nobody writes. */
export const UNFINISHED = 'unfinished';

/** `beforeDrop` runs before a blob is removed (a run makes sure then that the line replacing the blob survives). */
export function openBlobs(folder: string, beforeDrop: () => Promise<void> = async () => {}): Blobs {
  const pathOf = (id: string): string => join(folder, id.slice(0, 2), id.slice(2));
  const load = async (id: string): Promise<Uint8Array | null> => {
    if (!isContentId(id)) return null;
    try {
      return await readFile(pathOf(id));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw diskError(pathOf(id), 'read', error);
    }
  };
  return {
    async put(bytes) {
      const id = contentId(bytes);
      const old = await load(id);
      // A damaged file of this name is written anew.
      if (old !== null && contentId(old) === id) return id;
      const temporary = join(folder, UNFINISHED, `${process.pid}-${temporaries++}`);
      try {
        await mkdir(join(folder, UNFINISHED), { recursive: true });
        await mkdir(join(folder, id.slice(0, 2)), { recursive: true });
        await writeDurably(temporary, bytes);
        await rename(temporary, pathOf(id));
        await syncFolder(join(folder, id.slice(0, 2)));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        throw diskError(pathOf(id), 'write', error);
      }
      return id;
    },
    async get(id) {
      const bytes = await load(id);
      if (bytes === null) throw new UserError(`${folder}: no blob "${id}"; was the run folder copied completely?`);
      const found = contentId(bytes);
      if (found !== id) {
        throw new UserError(
          `${pathOf(id)}: damaged: its ${bytes.length} bytes hash to ${found}; restore it from a copy`,
        );
      }
      return bytes;
    },
    has: async (id) => isContentId(id) && exists(pathOf(id)),
    async drop(id) {
      if (!isContentId(id)) return;
      await beforeDrop();
      await rm(pathOf(id), { force: true }).catch((error) => {
        throw diskError(pathOf(id), 'write', error);
      });
    },
  };
}

/** Makes a rename in `folder` survive a power cut, where the system can do that. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
