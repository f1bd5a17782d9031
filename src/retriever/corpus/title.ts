/** The first heading of a document in each text format; undefined when it has none. Text is untrusted: linear time only. */

/** A longer line is no heading. */
const longestHeading = 300;

export function markdownTitle(text: string): string | undefined {
  const lines = text.split('\n');
  let fence: string | undefined;
  for (let i = afterFrontMatter(lines); i < lines.length; i++) {
    const line = lines[i]!;
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    if (line.length > longestHeading) continue;
    const hashes = /^ {0,3}#{1,6}[ \t]/.exec(line);
    const underlined = line.trim() !== '' && /^(=+|-{2,})\s*$/.test(lines[i + 1] ?? '');
    const title = hashes !== null ? line.slice(hashes[0].length) : underlined ? line : '';
    if (plain(title) !== '') return plain(title);
  }
  return undefined;
}

/** A line over a rule of punctuation at least as long as it. */
export function rstTitle(text: string): string | undefined {
  const lines = text.split('\n');
  return lines
    .find((line, i) => {
      const title = line.trim();
      const rule = (lines[i + 1] ?? '').trim();
      return (
        title !== '' && title.length <= longestHeading && !isRule(title) && isRule(rule) && rule.length >= title.length
      );
    })
    ?.trim();
}

const isRule = (line: string): boolean => /^([!-/:-@[-`{-~])\1+$/.test(line);

/** YAML between two `---` lines at the very start is not part of the text. */
function afterFrontMatter(lines: readonly string[]): number {
  if (lines[0]?.trim() !== '---') return 0;
  return lines.findIndex((line, i) => i > 0 && line.trim() === '---') + 1;
}

export const withoutFrontMatter = (text: string): string => {
  const lines = text.split('\n');
  return lines.slice(afterFrontMatter(lines)).join('\n');
};

/** Without closing hashes and `{#anchor}` attributes. */
const plain = (heading: string): string =>
  heading
    .replace(/\{[ \t]*[#.:][^{}]*\}\s*$/, '')
    .trim()
    .replace(/(?<=^|[ \t])#+$/, '')
    .trim();
