/** `crossfold show RUN`: the tables of a run, or its rollouts page by page. */
import { Command, Option } from 'commander';
import { auditRun } from '../recipe/audit.ts';
import { OUTCOMES } from '../report/outcome.ts';
import { type RolloutFilters, showRollouts } from '../report/rollouts.ts';
import { summaryJson, summaryText } from '../report/summary.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { openedRun } from './opened.ts';
import { openProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

interface Flags extends RolloutFilters {
  readonly json?: boolean;
  readonly rollouts?: boolean;
}

const GROUP = 'Rollouts (each of these flags asks for them):';
const ROLES = ['proposer', 'solver', 'verifier'] as const satisfies readonly NonNullable<RolloutFilters['role']>[];

export function showCommand(terminal: Terminal): Command {
  const filters = [
    new Option('--step <key>', 'of a step, or of all below a path: dr-zero/round2'),
    new Option('--outcome <name>', 'with this outcome').choices(OUTCOMES),
    new Option('--role <name>', 'of this role').choices(ROLES),
    countOption('--limit <n>', 'how many on a page (default: 10)'),
    countOption('--page <n>', 'which page (default: 1)'),
  ];
  const command = new Command('show')
    .description('Print the tables of a run, or page through its rollouts; works while the run goes on')
    .argument('<run>', 'folder of a run of evolve, compare or train')
    .addOption(new Option('--json', 'print the audit as JSON').conflicts('rollouts'))
    .addOption(new Option('--rollouts', 'page through what was said, searched and rewarded').helpGroup(GROUP));
  for (const filter of filters) command.addOption(filter.implies({ rollouts: true }).helpGroup(GROUP));
  return command
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold show runs/compare-quick-seed1', 'the tables'],
        ['crossfold show runs/compare-quick-seed1 --outcome false-agreement', 'what was agreed on and is false'],
        ['crossfold show runs/compare-quick-seed1 --step base/evaluate --page 2', 'the exam of the base policy'],
      ]),
    )
    .action((run: string, flags: Flags) => show(run, flags, terminal));
}

async function show(run: string, { json = false, rollouts = false, ...filters }: Flags, terminal: Terminal) {
  const progress = openProgress(terminal, 0, json);
  try {
    progress.note('auditing');
    const { reader, task } = await openedRun(run);
    const report = await auditRun(reader, task.auditor);
    progress.close();
    if (json) return terminal.json(summaryJson(report));
    if (!rollouts) return terminal.out(summaryText(report, { colours: terminal.colours.out }));
    for await (const text of showRollouts(reader, report, { ...filters, columns: terminal.width() }))
      terminal.out(text);
  } finally {
    progress.close();
  }
}
