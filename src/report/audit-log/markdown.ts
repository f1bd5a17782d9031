/** The audit of a log as Markdown, for issues and notebooks. Text of the log is escaped: it is shown, never rendered. */
import type { LogAudit } from '../../recipe/audit-log/audit.ts';
import { shortened, visible } from '../visible.ts';
import { NO_WARNING, SYMBOLS } from '../words.ts';
import { type LogTable, questionTable, tablesOf } from './tables.ts';
import { notes, titleOf, warningSentences } from './words.ts';

const LONGEST_CELL = 200;

export function logAuditMarkdown(audit: LogAudit): string {
  const warnings = warningSentences(audit);
  const tables = [...tablesOf(audit), questionTable(audit)].filter(({ rows }) => rows.length > 0);
  const parts = [
    `# ${escaped(titleOf(audit))}`,
    (warnings.length === 0 ? [NO_WARNING] : warnings).map((text) => `> ${escaped(text)}`).join('\n>\n'),
    ...tables.map(tableOf),
    SYMBOLS.map(([symbol, meaning]) => `- ${symbol}: ${meaning}`).join('\n'),
    notes(audit)
      .map((text) => `- ${escaped(text)}`)
      .join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

function tableOf({ title, head, numbersFrom, rows }: LogTable): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const cells = rows.map((row) =>
    line(row.map((cell, c) => (c < numbersFrom ? escaped(shortened(cell, LONGEST_CELL)) : cell))),
  );
  const rule = line(head.map((_, c) => (c < numbersFrom ? ':--' : '--:')));
  return [`## ${title}`, '', line(head), rule, ...cells].join('\n');
}

const entity = (char: string): string => `&#${char.charCodeAt(0)};`;

/** Nothing in a text marks it up, makes a link or calls a name. */
const escaped = (text: string): string =>
  visible(text)
    .replace(/[\\`*_[\]<>#|~&@]/g, entity)
    .replace(/:(?=\/\/)|\.(?<=www\.)/gi, entity);
