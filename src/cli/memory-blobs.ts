/** Blobs that leave nothing on disk: what is put stays in memory, what a run has is read from there. */
import type { Blobs } from '../store.ts';
import { UserError } from '../util/error.ts';
import { contentId } from '../util/id.ts';

/** @param under blobs to read through to; they are never written. */
export function memoryBlobs(under?: Pick<Blobs, 'get' | 'has'>): Blobs {
  const held = new Map<string, Uint8Array>();
  return {
    async put(bytes) {
      const id = contentId(bytes);
      held.set(id, Uint8Array.from(bytes));
      return id;
    },
    async get(id) {
      const bytes = held.get(id) ?? (await under?.get(id));
      if (bytes === undefined) throw new UserError(`no blob "${id}"; was the run folder copied completely?`);
      return bytes;
    },
    has: async (id) => held.has(id) || ((await under?.has(id)) ?? false),
    async drop(id) {
      held.delete(id);
    },
  };
}
