/** Content ids: equal bytes have equal ids, wherever they come from. */
import { createHash } from 'node:crypto';

/** First 128 bits of SHA-256 as 32 hex characters; a string counts as its UTF-8 bytes. */
export const contentId = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 32);

export const isContentId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);
