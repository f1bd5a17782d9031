/** The audit of a log for a terminal. */
import picocolors from 'picocolors';
import type { LogAudit } from '../../recipe/audit-log/audit.ts';
import { left, right, table } from '../table.ts';
import { shortened, visible } from '../visible.ts';
import { NO_WARNING, SYMBOLS } from '../words.ts';
import { type LogTable, questionTable, tablesOf } from './tables.ts';
import { notes, titleOf, warningSentences } from './words.ts';

/** Longer tables are for --csv and --html. */
const SHOWN_ROWS = 30;
const LONGEST_CELL = 60;

export function logAuditText(audit: LogAudit, colours = picocolors.createColors(false)): string {
  const warnings = warningSentences(audit);
  const tables = [...tablesOf(audit), questionTable(audit)].filter(({ rows }) => rows.length > 0);
  const sections = [
    [colours.bold(visible(titleOf(audit)))],
    ...tables.map((own) => tableLines(own, colours)),
    SYMBOLS.map(([symbol, meaning]) => colours.dim(`${symbol.padEnd(4)} ${meaning}`)),
    warnings.length === 0 ? [colours.green(NO_WARNING)] : warnings.map((text) => colours.yellow(visible(`! ${text}`))),
    notes(audit).map((text) => colours.dim(visible(text))),
  ];
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}

function tableLines({ title, head, numbersFrom, rows }: LogTable, colours: ReturnType<typeof picocolors.createColors>) {
  const columns = head.map((name, c) => (c < numbersFrom ? left(name) : right(name)));
  const cells = rows.slice(0, SHOWN_ROWS).map((row) => row.map((cell) => visible(shortened(cell, LONGEST_CELL))));
  const [first, ...lines] = table(columns, cells);
  const rest = rows.length - cells.length;
  return [
    colours.bold(title),
    colours.dim(first!),
    ...lines,
    ...(rest > 0 ? [colours.dim(`${rest} more rows: --csv FILE or --html FILE`)] : []),
  ];
}
