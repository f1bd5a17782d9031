/** `crossfold report RUN…`: several runs of evolve, compare or train as one comparison over systems and seeds. */
import { join } from 'node:path';
import { Command } from 'commander';
import { namesIn } from '../recipe/fields.ts';
import { seedsReport } from '../recipe/seeds/report.ts';
import { seedsHtml } from '../report/seeds/html.ts';
import { seedsMarkdown, seedsText } from '../report/seeds/text.ts';
import { makeFolder, replaceFile } from '../util/disk.ts';
import { helpExamples } from './examples.ts';
import { openedRun } from './opened.ts';
import { openProgress, type ProgressView } from './progress.ts';
import type { Terminal } from './terminal.ts';

export function reportCommand(terminal: Terminal): Command {
  return new Command('report')
    .description('Put runs side by side: systems, settings and seeds, with means, deviations and paired differences')
    .argument('<run...>', 'folders of runs of evolve, compare or train; they share task, rounds and base model')
    .option(
      '--systems <names>',
      'show these systems or recipes alone, as in dr-zero,crossfit (default: all that the runs have)',
    )
    .option('--out <dir>', 'where report.html, report.md and report.json go (default: beside the first run)')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold report runs/five/seed1 runs/five/seed2 --out runs/five', 'what "crossfold compare --seeds" does'],
        ['crossfold report runs/five/seed* runs/evolve-msv-quick-seed1', 'a run added to a comparison'],
        ['crossfold report runs/five/seed* runs/train-search-r1-quick-seed*', 'training baselines beside the loop'],
        [
          'crossfold report runs/five/seed* runs/grpo/seed* --systems dr-zero --out runs/grpo',
          'an ablation: settings are arms',
        ],
      ]),
    )
    .action(async (dirs: string[], flags: { systems?: string; out?: string; json?: boolean }) => {
      const { systems, out, json = false } = flags;
      const progress = openProgress(terminal, 0, json);
      try {
        await publishSeeds(dirs, out ?? join(dirs[0]!, '..'), json, progress, terminal, systems);
      } finally {
        progress.close();
      }
    });
}

/** Audits the runs, writes the three reports into `out` and prints one. */
export async function publishSeeds(
  dirs: readonly string[],
  out: string,
  json: boolean,
  progress: ProgressView,
  terminal: Terminal,
  systems?: string,
): Promise<void> {
  const runs = [];
  for (const dir of dirs) {
    progress.note(`auditing ${dir}`);
    const { task, ...run } = await openedRun(dir);
    runs.push({ ...run, dir, auditor: task.auditor });
  }
  const known = [...new Set(runs.flatMap((run) => run.systems))];
  const only = systems === undefined ? undefined : namesIn('--systems', systems, known, 'some of what the runs have: ');
  const report = await seedsReport(runs, only);
  await makeFolder(out);
  const html = join(out, 'report.html');
  await replaceFile(html, seedsHtml(report));
  await replaceFile(join(out, 'report.md'), `${seedsMarkdown(report)}\n`);
  await replaceFile(join(out, 'report.json'), `${JSON.stringify(report)}\n`);
  progress.close();
  if (json) terminal.json(report);
  else terminal.out(`${seedsText(report, terminal.colours.out)}\n\nReport: ${html}`);
}
