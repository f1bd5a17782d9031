/** `crossfold show RUN`: the tables of a run. */
import { Command } from 'commander';
import { auditRun } from '../recipe/audit.ts';
import { summaryJson, summaryText } from '../report/summary.ts';
import { openedRun } from './opened.ts';
import { openProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

export function showCommand(terminal: Terminal): Command {
  return new Command('show')
    .description('Print the tables of a run; writes nothing, works while the run goes on')
    .argument('<run>', 'folder of a run of evolve or compare')
    .option('--json', 'print the audit as JSON')
    .addHelpText('after', '\nExamples:\n  crossfold show runs/compare-quick-seed1')
    .action(async (run: string, { json = false }: { json?: boolean }) => {
      const progress = openProgress(terminal, 0, json);
      try {
        progress.note('auditing');
        const { reader, task } = await openedRun(run);
        const report = await auditRun(reader, task.auditor);
        progress.close();
        terminal.out(
          json ? JSON.stringify(summaryJson(report), null, 2) : summaryText(report, { colours: terminal.colours.out }),
        );
      } finally {
        progress.close();
      }
    });
}
