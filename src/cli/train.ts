/** `crossfold train RECIPE`: the training baselines of the papers on the same machinery, with the same exam and audit. */
import { basename, join, resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { stringify } from 'yaml';
import type { TrainConfig } from '../recipe/baseline/config.ts';
import { goldOfFile, goldOfTask } from '../recipe/baseline/gold.ts';
import { RECIPES, type RecipeName } from '../recipe/baseline/recipes.ts';
import { trainReport } from '../recipe/baseline/report.ts';
import { trainBaseline } from '../recipe/baseline/train.ts';
import type { EvolveConfig } from '../recipe/config.ts';
import { fileJsonSchema } from '../recipe/config-file.ts';
import { loopRecord } from '../recipe/loop-record.ts';
import { runTokenizer } from '../recipe/run-engine.ts';
import { withMatcher } from '../recipe/run-matcher.ts';
import { openTask } from '../recipe/task.ts';
import type { BankItem } from '../record.ts';
import { trainJson, trainMarkdown, trainText } from '../report/baseline.ts';
import { reportHtml } from '../report/html.ts';
import { openReader } from '../store/read.ts';
import type { Task } from '../train/context.ts';
import { replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { contentId } from '../util/id.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { onEngine } from './on-engine.ts';
import { openProgress, type ProgressView } from './progress.ts';
import { quietOption } from './quiet-option.ts';
import { addSettings, settingsOf } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { codeVersion } from './version.ts';

interface Flags {
  readonly train?: string;
  readonly trainQuestions?: number;
  readonly run?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly printConfig?: boolean;
  readonly schema?: boolean;
}

/** Settings that no recipe has. */
const NONE = ['--system', '--proposer-estimator', '--difficulty', '--format-weight', '--invalid', '--aux-budget'];
const QUESTIONS = 1000;
const GOLD = 'Gold questions:';

export function trainCommand(terminal: Terminal): Command {
  const rows = Object.entries(RECIPES).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
  const command = new Command('train')
    .description('Train a baseline: reinforcement or fine-tuning on gold questions, or self-play without references')
    .addArgument(new Argument('<recipe>', 'what to train').choices(Object.keys(RECIPES)))
    .addHelpText('after', ['\nRecipes:', ...rows].join('\n'))
    .addOption(
      new Option('--train <file>', 'questions with gold answers, in any form (default: of the task)').helpGroup(GOLD),
    )
    .addOption(countOption('--train-questions <n>', `how many, at most (default: ${QUESTIONS})`).helpGroup(GOLD));
  addSettings(command, 'evolve', NONE);
  return command
    .option('--run <dir>', 'folder of the run (default: runs/train-, then a name made from the settings)')
    .option('--json', 'print one JSON object at the end, and nothing else')
    .addOption(quietOption())
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold train search-r1', 'gold questions of the miniature world, none of the exam'],
        ['crossfold train r1', 'the same without search, in training and exam'],
        ['crossfold train sqlm --rounds 2', 'no gold questions at all'],
        ['crossfold train rejection --docs ./handbook --train questions.jsonl', 'your documents and questions'],
      ]),
    )
    .addHelpText('after', '\nRunning the same command again continues a run that was stopped.')
    .action(async (recipe: RecipeName, flags: Flags) => {
      if (flags.schema) return terminal.json(fileJsonSchema());
      const { config, dir } = await settingsOf(command, 'evolve');
      const { systems: _, ...shown } = config;
      if (flags.printConfig) return terminal.out(stringify(shown).trimEnd());
      const progress = openProgress(terminal, config.rounds, flags.json === true || flags.quiet === true);
      try {
        await runTrain(recipe, config, folderOf(recipe, config, dir, flags), flags, progress, terminal);
      } finally {
        progress.close();
      }
    });
}

/** `runs/train-sqlm-quick-seed1`; with a mark of the gold questions where they are not the task's. */
function folderOf(recipe: RecipeName, { systems }: EvolveConfig, dir: string, flags: Flags): string {
  if (flags.run !== undefined) return flags.run;
  const rest = basename(dir).slice(`evolve-${systems[0]}`.length);
  const { train, trainQuestions } = flags;
  const own = train === undefined && trainQuestions === undefined ? '' : JSON.stringify([train, trainQuestions]);
  return join('runs', `train-${recipe}${rest}${own === '' ? '' : `-${contentId(own).slice(0, 6)}`}`);
}

async function runTrain(
  recipe: RecipeName,
  loop: EvolveConfig,
  folder: string,
  flags: Flags,
  progress: ProgressView,
  terminal: Terminal,
): Promise<void> {
  progress.note(loop.task.kind === 'docs' ? `reading ${loop.task.path}` : 'making the world');
  const tokenizer = await runTokenizer(loop);
  const task = await openTask(loop, tokenizer, (text) => progress.warn(`Warning: ${text}`));
  const gold = await goldOf(recipe, loop, task, flags, progress);
  const config: TrainConfig = {
    recipe,
    loop,
    gold:
      gold === null
        ? null
        : {
            file: flags.train === undefined ? null : resolve(flags.train),
            questions: gold.length,
            id: contentId(JSON.stringify(gold)),
          },
  };
  const recorded = { ...config, loop: await loopRecord(folder, loop) };
  const spec = { recipe: 'train', config: recorded, seed: loop.seed, codeVersion: codeVersion(), parents: [] };
  await withMatcher(loop, progress, (matcherIn) =>
    onEngine({ loop, folder, spec, progress, warn: progress.warn }, async (run, engine, signal) => {
      const matcher = await matcherIn(folder);
      await trainBaseline({ config, run, engine, task, matcher, gold: gold ?? [], report: progress.report, signal });
    }),
  );
  progress.note('auditing');
  const reader = await openReader(folder);
  const report = await trainReport(reader, config, task.auditor);
  const html = join(folder, 'report.html');
  await replaceFile(html, await reportHtml(report.audit, reader, task.sourceText));
  await replaceFile(join(folder, 'report.md'), `${trainMarkdown(report)}\n`);
  progress.close();
  if (flags.json) terminal.json({ html, ...trainJson(report) });
  else terminal.out(`${trainText(report, terminal.colours.out)}\n\nReport: ${html}`);
}

async function goldOf(
  recipe: RecipeName,
  loop: EvolveConfig,
  task: Task,
  { train, trainQuestions }: Flags,
  progress: ProgressView,
): Promise<readonly BankItem[] | null> {
  if (RECIPES[recipe].questions === 'own') {
    if (train === undefined && trainQuestions === undefined) return null;
    throw new UserError(`${recipe} writes its own questions; leave out --train and --train-questions`);
  }
  const n = trainQuestions ?? QUESTIONS;
  if (train === undefined) return goldOfTask(loop, task, n);
  const { items, overlap } = await goldOfFile(train, task, n);
  if (overlap > 0) progress.warn(`Warning: ${train}: ${overlap} questions are in the exam and are not trained on`);
  return items;
}
