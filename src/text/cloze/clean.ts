/**
 * Running text of a document: paragraphs on one line each, without the markup of Markdown and reStructuredText and without
 * headings, code, tables, directives and other stretches that hold no sentences. Plain text passes as it is.
 */

/** Applied in order. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [/\r\n?/g, '\n'],
  [/^---\n.*?\n---\n/s, ''], // front matter
  [/^(```|~~~).*?^\1[^\n]*$/gms, '\n'], // fenced code
  [/<!--.*?-->/gs, ''],
  [/\{\*.*?\*\}|\{!.*?!\}/g, ''], // included files
  [/<\/?[a-z][^<>\n]{0,200}>/gi, ''],
  [/^#{1,6} .*$/gm, '\n'],
  [/^.+\n([=\-~^"#*+]){3,}[ \t]*$/gm, '\n'], // underlined heading
  [/^\s*[=\-~^"#*+]{4,}\s*$/gm, '\n'],
  [/!\[[^\]]*\]\([^)]*\)/g, ''],
  [/\[([^\]]+)\]\([^)]*\)(?:\{[^}]*\})?/g, '$1'], // link
  [/\[([^\]]+)\]\[[^\]]*\]/g, '$1'],
  [/`([^`<\n]+?)\s*<[^`>]+>`__?/g, '$1'], // rst link
  [/:[a-z][\w:+-]*:`~?([^`<]+?)(?:\s*<[^`>]*>)?`/gi, '`$1`'], // rst role
  [/``([^`]+)``/g, '`$1`'],
  [/`([^`\n]+)`__?(?!\w)/g, '$1'], // rst reference
  [/\s?\[[#*]?[\w-]*\]_(?!\w)/g, ''], // rst footnote
  [/\*\*([^*\n]+)\*\*/g, '$1'],
  [/(?<![\w*])\*([^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])/g, '$1'],
  [/\n[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+(?=\S)/g, '\n\n'], // list items are paragraphs of their own
];

/** A stretch that begins like this is no text: admonition, directive, comment, code, prompt, table, field list. */
const notText = /^(?:\/\/\/|:::|!!!|\.\. |\s{4,}\S|\t|>>>|\$ |\||:[\w -]+:|[\w-]+:[^\n]*\n[\w-]+:)/;

const wordlike = /[\p{L}\p{M}\p{N}\s]/gu;
const MIN_WORDS = 8;
const MIN_WORDLIKE = 0.82;

/** In document order. */
export function paragraphsOf(text: string): readonly string[] {
  const plain = rewrites.reduce((t, [pattern, to]) => t.replace(pattern, to), text);
  return plain
    .split(/\n[ \t]*\n\s*?(?=[ \t]*\S)/)
    .filter((block) => !notText.test(block.replace(/^\n+/, '')) && !/::\s*$/.test(block))
    .map((block) => block.replace(/\s+/g, ' ').trim())
    .filter((block) => block.split(' ').length >= MIN_WORDS)
    .filter((block) => (block.match(wordlike)?.length ?? 0) / block.length >= MIN_WORDLIKE);
}
