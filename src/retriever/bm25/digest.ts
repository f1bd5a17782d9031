/** The hash that names a corpus: over id, title and text of its passages, in order. */
import { createHash } from 'node:crypto';
import type { Passage } from '../../types.ts';

export function corpusHash() {
  const hash = createHash('sha256');
  return {
    add({ id, title, text }: Passage): void {
      hash.update(JSON.stringify([id, title, text]));
    },
    /** 16 hex characters. Ends the hash. */
    digest: (): string => hash.digest('hex').slice(0, 16),
  };
}
