/**
 * The byte alphabet of byte-level BPE (GPT-2): each byte is one printable character. Printable Latin-1 stands for itself,
 * the other 68 bytes are U+0100 and up in order, so a space is "Ġ".
 */

const isPrintable = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;

const shifted = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !isPrintable(byte));

/** charOfByte[b] is the character that stands for byte b. */
export const charOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(isPrintable(byte) ? byte : 0x100 + shifted.indexOf(byte)),
);

const byteOfChar = new Map(charOfByte.map((char, byte) => [char, byte]));

/** Bytes of a token; characters outside the alphabet (an added token of plain text) give their own UTF-8. */
export function bytesOf(token: string): Uint8Array {
  const bytes: number[] = [];
  for (const char of token) {
    const byte = byteOfChar.get(char);
    if (byte === undefined) bytes.push(...new TextEncoder().encode(char));
    else bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** `text` in the byte alphabet. */
export const byteSpelling = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => charOfByte[byte]!).join('');
