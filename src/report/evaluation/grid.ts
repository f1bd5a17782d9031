/** A table that is laid out for a terminal or as Markdown. */
import { type Column, table } from '../table.ts';
import { visible } from '../visible.ts';

export interface Grid {
  readonly columns: readonly Column[];
  /** Cells may hold names from files. */
  readonly rows: readonly (readonly string[])[];
}

export type Layout = (grid: Grid) => string[];

export const asText: Layout = ({ columns, rows }) =>
  table(
    columns,
    rows.map((row) => row.map(visible)),
  );

const cell = (text: string): string => visible(text).replace(/[\\|<>`*_[\]]/g, '\\$&');

export const asMarkdown: Layout = ({ columns, rows }) => {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const rule = `| ${columns.map(({ align }) => (align === 'left' ? '---' : '---:')).join(' | ')} |`;
  return [line(columns.map(({ head }) => head)), rule, ...rows.map(line)];
};
