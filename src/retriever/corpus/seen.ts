/** The ids met so far. One Set holds at most 2^24 entries, which a corpus may pass. */
const shards = 64;

export function seenIds() {
  const sets = Array.from({ length: shards }, () => new Set<string>());
  let size = 0;
  return {
    get size() {
      return size;
    },
    /** False when the id was there. */
    add(id: string): boolean {
      let hash = id.length;
      for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) | 0;
      const set = sets[(hash ^ (hash >>> 13)) & (shards - 1)]!;
      if (set.has(id)) return false;
      set.add(id);
      size++;
      return true;
    },
  };
}
