/** The end of a run: audit it, write its report, print the tables, and say where things are. */
import { join } from 'node:path';
import { type AuditReport, auditRun } from '../recipe/audit.ts';
import { reportHtml } from '../report/html.ts';
import { summaryJson, summaryText } from '../report/summary.ts';
import { visible } from '../report/visible.ts';
import { openReader } from '../store/read.ts';
import type { Task } from '../train/context.ts';
import { replaceFile } from '../util/disk.ts';
import type { ProgressView } from './progress.ts';
import { quoted } from './shell.ts';
import type { Terminal } from './terminal.ts';

export interface PublishOptions {
  /** False: write report.html and say nothing. */
  readonly print?: boolean;
  readonly json: boolean;
  /** Say what to try next. */
  readonly hints: boolean;
  /** Rollouts that are no longer what was written, one line each. */
  readonly damaged?: readonly string[];
  readonly progress: ProgressView;
  readonly terminal: Terminal;
}

export async function publish(
  folder: string,
  task: Task,
  { print = true, json, hints, damaged = [], progress, terminal }: PublishOptions,
): Promise<void> {
  progress.note('auditing');
  const reader = await openReader(folder);
  const report = await auditRun(reader, task.auditor);
  const html = join(folder, 'report.html');
  await replaceFile(html, await reportHtml(report, reader, task.sourceText));
  progress.close();
  if (!print) return;
  if (json) return terminal.json({ html, damaged, ...summaryJson(report) });
  terminal.out(summaryText(report, { colours: terminal.colours.out, html }));
  for (const problem of damaged) terminal.out(terminal.colours.out.yellow(visible(`! rollouts of ${problem}`)));
  if (hints) terminal.out(nextSteps(folder, report, task));
}

function nextSteps(folder: string, report: AuditReport, task: Task): string {
  const run = quoted(folder);
  // Of a document: untrusted.
  const question = visible(task.gold[0]?.text ?? 'your question');
  const rows = [
    [
      'Try next',
      `crossfold show ${run} --rollouts${report.falseAgreements.length > 0 ? ' --outcome false-agreement' : ''}`,
    ],
    ['', `crossfold ask ${quoted(question)} --run ${run}`],
    ['', `crossfold audit ${run} --json`],
  ];
  return ['', ...rows.map(([name, text]) => `${name!.padEnd(9)} ${text}`)].join('\n');
}
