/** Text of a byte stream whose chunks may cut a character: one decoder for all chunks, so no replacement characters appear. */
export function decodeChunks(chunks: Iterable<Uint8Array>): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
