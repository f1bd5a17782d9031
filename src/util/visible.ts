/**
 * Untrusted text (of models, documents and servers) made harmless and readable: characters that steer a terminal, hide, or turn
 * the direction of writing are shown as their escapes. A text without them is returned as it is.
 */

/** Controls, zero-width and direction characters, line separators, tags, surrogates that stand alone. */
export const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

const escaped = (char: string): string => NAMED[char] ?? `\\u{${char.codePointAt(0)!.toString(16)}}`;

/** On one line. */
export const visible = (text: string): string => text.replace(UNSEEN, escaped);

/** At most `limit` characters, never half of one. */
export function shortened(text: string, limit: number): string {
  const chars = [...text];
  return chars.length <= limit ? text : `${chars.slice(0, limit - 1).join('')}…`;
}
