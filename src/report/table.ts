/** Aligned tables for a terminal: numbers to the right, words to the left. */

export interface Column {
  readonly head: string;
  readonly align: 'left' | 'right';
}

export const left = (head: string): Column => ({ head, align: 'left' });
export const right = (head: string): Column => ({ head, align: 'right' });

/** Columns that a terminal gives a text: wide (East Asian, emoji) characters take two, combining marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) {
    if (/\p{M}/u.test(char)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u.test(
        char,
      )
        ? 2
        : 1;
  }
  return width;
}

/** The head first, then a line a row; columns are two blanks apart. Cells must be free of control characters. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns.map(({ head }) => head), ...rows];
  const widths = columns.map((_, c) => Math.max(...lines.map((line) => widthOf(line[c] ?? ''))));
  return lines.map((line) =>
    columns
      .map(({ align }, c) => {
        const cell = line[c] ?? '';
        const room = ' '.repeat(widths[c]! - widthOf(cell));
        return align === 'left' ? cell + room : room + cell;
      })
      .join('  ')
      .trimEnd(),
  );
}
