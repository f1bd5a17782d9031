/** The part of `crossfold audit` that is about log files. */

import type { LogAudit } from '../recipe/audit-log/audit.ts';
import { auditLogFile, type LogAuditSettings } from '../recipe/audit-log/run.ts';
import { openJudge } from '../recipe/open-judge.ts';
import { logAuditCsv } from '../report/audit-log/csv.ts';
import { logAuditHtml } from '../report/audit-log/html.ts';
import { logAuditMarkdown } from '../report/audit-log/markdown.ts';
import { logAuditText } from '../report/audit-log/text.ts';
import { visible } from '../report/visible.ts';
import { chatOf } from '../rollout/chat.ts';
import { replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { duration } from './meter.ts';
import { openProgress, type ProgressView } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface LogFlags {
  readonly json?: boolean;
  readonly map?: readonly string[];
  readonly extract: LogAuditSettings['extract'];
  readonly references?: string;
  readonly matcher: LogAuditSettings['matcher'];
  readonly judge?: string;
  readonly judgeModel?: string;
  readonly sources?: string;
  readonly cache?: string;
  readonly strict?: boolean;
  readonly csv?: string;
  readonly markdown?: string;
  readonly html?: string;
}

/** A row per file that can be written. */
const OUTPUTS = [
  { flag: 'csv', render: logAuditCsv },
  { flag: 'markdown', render: logAuditMarkdown },
  { flag: 'html', render: logAuditHtml },
] as const satisfies readonly { flag: keyof LogFlags; render: (audit: LogAudit) => string }[];

/** The number of them all is among the results. */
const SHOWN_PROBLEMS = 5;

export async function auditLogCommand(file: string, flags: LogFlags, terminal: Terminal): Promise<void> {
  const { json = false, map = [], extract, matcher, strict = false } = flags;
  const progress = openProgress(terminal, 0, json);
  const engine = await chosenJudge(flags, progress);
  const started = performance.now();
  try {
    const settings: LogAuditSettings = {
      ...{ file, map, extract, matcher, strict },
      references: flags.references ?? null,
      sources: flags.sources ?? null,
      cache: flags.cache ?? null,
      judge: engine === null ? null : chatOf(engine, await engine.policy(engine.base.policy)),
    };
    const audit = await auditLogFile(settings, {
      note: progress.note,
      warn: (text) => progress.warn(`Warning: ${text}`),
      judged(done, total) {
        const left = ((total - done) * (performance.now() - started)) / done / 1000;
        progress.note(`judging: ${done} of ${total} questions, ${duration(left)} left`);
      },
    });
    for (const problem of audit.problems.slice(0, SHOWN_PROBLEMS)) progress.warn(`Left out: ${problem}`);
    const written: string[] = [];
    for (const { flag, render } of OUTPUTS) {
      const path = flags[flag];
      if (path === undefined) continue;
      await replaceFile(path, render(audit));
      written.push(path);
    }
    progress.close();
    if (json) return terminal.json(audit);
    terminal.out(logAuditText(audit, terminal.colours.out));
    if (written.length > 0) terminal.out(visible(`Written: ${written.join(', ')}`));
  } finally {
    progress.close();
    await engine?.close();
  }
}

async function chosenJudge({ judge, judgeModel, sources, cache }: LogFlags, { note, warn }: ProgressView) {
  if (judge === undefined) {
    const useless = Object.entries({ '--judge-model': judgeModel, '--sources': sources, '--cache': cache }).find(
      ([, value]) => value !== undefined,
    );
    if (useless !== undefined) throw new UserError(`${useless[0]} is for a judge; add --judge openai:URL`);
    return null;
  }
  if (judgeModel === undefined)
    throw new UserError(`--judge ${judge} needs --judge-model, the name of a model that it serves`);
  return openJudge(judge, judgeModel, { note, warn: (text) => warn(`Warning: ${text}`) });
}
