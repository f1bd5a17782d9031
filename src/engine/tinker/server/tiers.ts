/** Blobs of two kinds: those that checkpoints name stay, all others pass with the server that made them. */
import type { Blobs } from '../../../store.ts';
import { contentId } from '../../../util/id.ts';

export interface TieredBlobs extends Blobs {
  /** Makes a blob stay; returns its size in bytes. */
  keep(id: string): Promise<number>;
  /** A blob that was kept goes, or passes with the server where it is still `used`. */
  release(id: string, used: boolean): Promise<void>;
}

export function tieredBlobs(kept: Blobs, passing: Blobs): TieredBlobs {
  const get = async (id: string): Promise<Uint8Array> => ((await kept.has(id)) ? kept : passing).get(id);
  return {
    async put(bytes) {
      const id = contentId(bytes);
      return (await kept.has(id)) ? id : passing.put(bytes);
    },
    get,
    has: async (id) => (await kept.has(id)) || passing.has(id),
    drop: (id) => passing.drop(id),
    async keep(id) {
      const bytes = await get(id);
      await kept.put(bytes);
      await passing.drop(id);
      return bytes.length;
    },
    async release(id, used) {
      if (used) await passing.put(await kept.get(id));
      await kept.drop(id);
    },
  };
}
