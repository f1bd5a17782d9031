/** `crossfold audit RUN|FILE`: judges a run again, or the log that another system wrote. */
import { stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { damagedRollouts } from '../recipe/audit/blobs.ts';
import { LOG_MATCHERS } from '../recipe/audit-log/run.ts';
import { EXTRACTS } from '../recipe/audit-log/value.ts';
import { UserError } from '../util/error.ts';
import { auditLogCommand, type LogFlags } from './audit-log.ts';
import { helpExamples } from './examples.ts';
import { openedRun } from './opened.ts';
import { openProgress } from './progress.ts';
import { publish } from './publish.ts';
import type { Terminal } from './terminal.ts';

const GROUP = 'Log files:';
const OUT = 'Log files, written besides:';

export function auditCommand(terminal: Terminal): Command {
  const flags: readonly (readonly [Option, string])[] = [
    [new Option('--map <pairs...>', 'which field means what: question=prompt label=answer responses=samples …'), GROUP],
    [
      new Option('--extract <how>', 'answers in responses: the text, or the last answer tag of a transcript')
        .choices(EXTRACTS)
        .default('text'),
      GROUP,
    ],
    [new Option('--references <file>', 'right answers by question or id, in any form of the benchmarks'), GROUP],
    [new Option('--matcher <name>', 'when a response matches a label').choices(LOG_MATCHERS).default('exact'), GROUP],
    [new Option('--judge <engine>', 'let a model judge, from the text of the sources: openai:URL'), GROUP],
    [new Option('--judge-model <name>', 'its name on that server'), GROUP],
    [new Option('--sources <path>', 'corpus with the texts of the sources, for the judge'), GROUP],
    [new Option('--cache <dir>', 'where replies of the judge are kept (default: judge-cache beside the log)'), GROUP],
    [new Option('--strict', 'a row that cannot be used is an error'), GROUP],
    [new Option('--csv <file>', 'one flat table'), OUT],
    [new Option('--markdown <file>', 'tables for an issue or a notebook'), OUT],
    [new Option('--html <file>', 'one page that stands by itself'), OUT],
  ];
  const command = new Command('audit')
    .description('Judge a run again, or a log of any other system: who agreed with whom, and was it true?')
    .argument('<path>', 'folder of a run, or a log: JSON Lines, JSON, CSV, TSV or Parquet')
    .option('--json', 'print the whole audit as JSON');
  for (const [option, group] of flags) command.addOption(option.helpGroup(group));
  return command
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold audit runs/compare-quick-seed1', 'the tables of a run, and its report.html anew'],
        ['crossfold audit log.jsonl --map question=prompt label=answer responses=samples', 'a log, by its references'],
        ['crossfold audit log.parquet --references nq.jsonl --html audit.html', 'right answers from another file'],
        [
          'crossfold audit log.csv --sources corpus.jsonl --judge openai:http://127.0.0.1:8000 --judge-model qwen3',
          'a model as judge',
        ],
      ]),
    )
    .action(async (path: string, options: LogFlags, self: Command) => {
      if (!(await isFolder(path))) return auditLogCommand(path, options, terminal);
      const foreign = flags.find(([option]) => self.getOptionValueSource(option.attributeName()) === 'cli')?.[0];
      if (foreign !== undefined)
        throw new UserError(`${foreign.long} is for log files; ${path} is the folder of a run, which has all it needs`);
      await auditRunCommand(path, options.json ?? false, terminal);
    });
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new UserError(`${path}: does not exist; expected the folder of a run or a log file`);
  return found.isDirectory();
}

async function auditRunCommand(run: string, json: boolean, terminal: Terminal): Promise<void> {
  const progress = openProgress(terminal, 0, json);
  try {
    progress.note('opening the run');
    const { task, reader } = await openedRun(run);
    const damaged = await damagedRollouts(reader);
    await publish(run, task, { json, hints: false, damaged, progress, terminal });
  } finally {
    progress.close();
  }
}
