/** `crossfold replay`: graders fitted on one frozen bank under every feedback plan, audited against one another. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { goldAuditor } from '../auditor/gold.ts';
import type { EvolveConfig } from '../recipe/config.ts';
import { fileJsonSchema } from '../recipe/config-file.ts';
import { namesIn } from '../recipe/fields.ts';
import { type BankQuestion, bankLine, bankOfRun, readBankFile, sampleBank } from '../recipe/replay/bank.ts';
import type { ReplayConfig, ReplayRequest } from '../recipe/replay/config.ts';
import { isFinished, replayFolder, replayRecord } from '../recipe/replay/folder.ts';
import { loggedFeedback } from '../recipe/replay/logged.ts';
import { checkParts } from '../recipe/replay/parts.ts';
import { ARMS, PAPER_ARMS } from '../recipe/replay/plan.ts';
import { replay } from '../recipe/replay/replay.ts';
import { type ReplayReport, replayReport } from '../recipe/replay/report.ts';
import { runTokenizer } from '../recipe/run-engine.ts';
import { withMatcher } from '../recipe/run-matcher.ts';
import { openTask } from '../recipe/task.ts';
import { replayMarkdown, replayText } from '../report/replay.ts';
import { openReader } from '../store/read.ts';
import type { Task } from '../train/context.ts';
import { judging } from '../train/judged.ts';
import { replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { contentId } from '../util/id.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { onEngine } from './on-engine.ts';
import { openedRun } from './opened.ts';
import { openProgress, type ProgressView } from './progress.ts';
import { quietOption } from './quiet-option.ts';
import { addSettings, settingsOf } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { codeVersion } from './version.ts';

/** Settings of what a replay does not do: write questions, train a proposer, go through rounds. */
const NONE = [
  ...['--seed', '--system', '--rounds', '--sources', '--source-pool', '--hops', '--proposer-steps', '--prompts'],
  ...['--admitted', '--solver-steps', '--aux-budget', '--proposer-estimator', '--difficulty', '--format-weight'],
  ...['--invalid', '--proposer-rate'],
];

interface Flags {
  readonly bank: string;
  readonly system?: string;
  readonly plans: string;
  readonly seeds: number;
  readonly updates: number;
  readonly probe: number;
  readonly limit?: number;
  readonly run?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly printConfig?: boolean;
  readonly schema?: boolean;
}

export function replayCommand(terminal: Terminal): Command {
  const command = new Command('replay')
    .description('Fit graders on one frozen bank of questions under every feedback plan, and audit what they agree on')
    .requiredOption(
      '--bank <run|file>',
      'a run, whose admitted questions are taken, or rows of {question, label, source}',
    )
    .option(
      '--plans <names>',
      `all (the paper's eight), or a list of ${ARMS.map(({ name }) => name).join(', ')}`,
      'all',
    )
    .addOption(countOption('--seeds <n>', 'seeds 1 to n').default(5))
    .addOption(countOption('--updates <n>', 'updates of each grader with the full budget').default(25))
    .addOption(countOption('--probe <n>', 'held-out questions that every fitted grader answers').default(200))
    .addOption(countOption('--limit <n>', 'take so many questions of the bank (default: all)'));
  addSettings(command, 'evolve', NONE);
  return command
    .addOption(new Option('--system <name>', 'whose questions, of a run (default: its first system)'))
    .option('--run <dir>', 'folder of the replay (default: runs/replay-, then a name made from the settings)')
    .option('--json', 'print one JSON object at the end, and nothing else')
    .addOption(quietOption())
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold replay --bank runs/compare-quick-seed1 --plans coupled,crossfit --seeds 2', 'the two ends'],
        ['crossfold replay --bank runs/compare-quick-seed1', "the paper's eight arms, five seeds: hours on two cores"],
        ['crossfold replay --bank bank.jsonl --docs ./handbook', 'a bank of your own about your documents'],
      ]),
    )
    .addHelpText(
      'after',
      '\nRunning the same command again continues a replay that was stopped. With more --seeds or other --plans it computes\nwhat is missing; the report shows all that the folder has.',
    )
    .action(async (flags: Flags) => {
      if (flags.schema) return terminal.json(fileJsonSchema());
      const progress = openProgress(terminal, flags.seeds, flags.json === true || flags.quiet === true);
      try {
        await runReplay(command, flags, progress, terminal);
      } finally {
        progress.close();
      }
    });
}

async function runReplay(command: Command, flags: Flags, progress: ProgressView, terminal: Terminal): Promise<void> {
  progress.note('reading the bank');
  const opened = await openBank(flags);
  const { config: loop } = await settingsOf(command, 'evolve', opened.config);
  if (flags.printConfig) {
    const { systems: _, ...shown } = loop;
    return terminal.out(stringify(shown).trimEnd());
  }
  const bank = sampleBank(opened.bank, flags.limit ?? opened.bank.length);
  const config: ReplayConfig = {
    loop,
    bank: contentId(bank.map((item) => `${bankLine(item)}\n`).join('')),
    updates: flags.updates,
    probe: flags.probe,
  };
  const request: ReplayRequest = {
    arms: armsOf(flags.plans),
    seeds: Array.from({ length: flags.seeds }, (_, i) => i + 1),
  };
  const task = await openTask(loop, await runTokenizer(loop), progress.warn);
  checkSources(bank, task, flags.bank);
  checkParts(bank, request, bank.length < opened.bank.length);
  if (task.gold.length < config.probe)
    progress.say(
      `The exam has ${task.gold.length} questions, fewer than --probe ${config.probe}: all of them are asked`,
    );
  const folder = flags.run ?? (await replayFolder(flags.bank, config, request));
  const spec = {
    recipe: 'replay',
    config: await replayRecord(folder, config),
    seed: 1,
    codeVersion: codeVersion(),
    parents: opened.parents,
  };
  const report = await withMatcher(loop, progress, async (matcherIn) => {
    const finished = (keys: readonly string[]): boolean => isFinished(keys, request);
    const at = { loop, folder, spec, finished, progress, warn: progress.warn };
    const matcher = await onEngine(at, async (run, engine, signal) => {
      const matcher = await matcherIn(folder);
      await replay({ config, request, run, engine, task, matcher, bank, report: progress.report, signal });
      return matcher;
    });
    progress.note('auditing');
    const [audit, judged] = judging({ matcher });
    const auditor = bank.some(({ reference }) => reference !== undefined) ? goldAuditor(audit.matcher) : task.auditor;
    const logged = await loggedFeedback(bank, audit.matcher);
    const found = await replayReport(await openReader(folder), auditor, bank, logged, request, task.factOf);
    const { judged: asked, unread = 0 } = judged();
    return { ...found, ...(asked === undefined ? {} : { auditAsked: { judged: asked, unread } }) };
  });
  for (const text of besides(report, request)) progress.say(`${folder} also has ${text}, which the report shows`);
  await replaceFile(join(folder, 'report.md'), `${replayMarkdown(report)}\n`);
  progress.close();
  if (flags.json) terminal.json(report);
  else terminal.out(`${replayText(report, terminal.colours.out)}\n\nReport: ${join(folder, 'report.md')}`);
}

/** What the folder has that this command did not ask for. */
function besides({ arms, seeds }: ReplayReport, request: ReplayRequest): string[] {
  const others = seeds.filter((seed) => !request.seeds.includes(seed));
  const plans = arms.map(({ arm }) => arm).filter((arm) => !request.arms.includes(arm));
  const parts = [
    ...(others.length === 0 ? [] : [`${others.length === 1 ? 'seed' : 'seeds'} ${others.join(', ')}`]),
    ...(plans.length === 0 ? [] : [plans.join(', ')]),
  ];
  return parts.length === 0 ? [] : [parts.join(' and ')];
}

interface OpenedBank {
  readonly bank: readonly BankQuestion[];
  /** Settings of the run that the bank is of. */
  readonly config: EvolveConfig | undefined;
  readonly parents: readonly string[];
}

async function openBank({ bank, system }: Flags): Promise<OpenedBank> {
  const found = await stat(bank).catch(() => null);
  if (found === null)
    throw new UserError(
      `--bank is "${bank}", which is not there; expected the folder of a run, or a file of rows {question, label, source}`,
    );
  if (!found.isDirectory()) return { bank: await readBankFile(bank), config: undefined, parents: [] };
  const { reader, config } = await openedRun(bank);
  return {
    bank: await bankOfRun(reader, system),
    config: { ...config, systems: [config.systems[0]!] },
    parents: [bank],
  };
}

function armsOf(typed: string): string[] {
  if (typed === 'all') return [...PAPER_ARMS];
  const known = ARMS.map(({ name }) => name);
  return [...new Set(namesIn('--plans', typed, known, 'all, or some of '))];
}

/** A bank about other documents would be answered from the wrong ones. */
function checkSources(bank: readonly BankQuestion[], task: Task, path: string): void {
  const foreign = bank.filter(({ source }) => task.sourceText(source) === '');
  if (foreign.length === 0) return;
  const [first] = foreign;
  throw new UserError(
    `${path}: ${foreign.length} of ${bank.length} questions are about sources that ${task.name} does not have (the first is "${first!.source}"); name the documents with --docs, or the world with --world-seed`,
  );
}
