/** `crossfold audit RUN`: computes the audit again, prints it and writes report.html. */
import { Command } from 'commander';
import { helpExamples } from './examples.ts';
import { openedRun } from './opened.ts';
import { openProgress } from './progress.ts';
import { publish } from './publish.ts';
import type { Terminal } from './terminal.ts';

export function auditCommand(terminal: Terminal): Command {
  return new Command('audit')
    .description('Judge a run again, print the tables and rewrite its report.html; works while the run goes on')
    .argument('<run>', 'folder of a run of evolve or compare')
    .option('--json', 'print the whole audit as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold audit runs/compare-quick-seed1', 'the tables, and report.html anew'],
        ['crossfold audit runs/compare-quick-seed1 --json > audit.json', 'for programs'],
      ]),
    )
    .action(async (run: string, { json = false }: { json?: boolean }) => {
      const progress = openProgress(terminal, 0, json);
      try {
        progress.note('opening the run');
        const { task } = await openedRun(run);
        await publish(run, task, { json, hints: false, progress, terminal });
      } finally {
        progress.close();
      }
    });
}
