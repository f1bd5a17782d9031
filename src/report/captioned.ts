/** Tables under a caption, for a terminal and as Markdown: what the reports of `train`, `replay` and `report` are made of. */
import type picocolors from 'picocolors';
import { left, right, table } from './table.ts';

/** Cells are free of control characters. */
export interface CaptionedTable {
  readonly caption: string;
  readonly heads: readonly string[];
  /** Columns from this one on are numbers; the second when not given. */
  readonly numbersFrom?: number;
  readonly rows: readonly (readonly string[])[];
}

const isText = ({ numbersFrom = 1 }: CaptionedTable, column: number): boolean => column < numbersFrom;

export const captionedLines = (
  own: CaptionedTable,
  { dim }: Pick<ReturnType<typeof picocolors.createColors>, 'dim'>,
): string[] => [
  dim(own.caption),
  ...table(
    own.heads.map((head, c) => (isText(own, c) ? left(head) : right(head))),
    own.rows,
  ).map((line, i) => (i === 0 ? dim(line) : line)),
];

export const captionedMarkdown = (own: CaptionedTable): string =>
  [
    own.caption,
    '',
    `| ${own.heads.join(' | ')} |`,
    `|${own.heads.map((_, c) => (isText(own, c) ? '---' : '---:')).join('|')}|`,
    ...own.rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');
