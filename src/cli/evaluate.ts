/** `crossfold evaluate`: an exam of a policy with one strategy, or with all of them. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { headOf } from '../benchmark/files.ts';
import type { Manifest } from '../benchmark/manifest.ts';
import { readManifest } from '../benchmark/manifest-file.ts';
import { stemOf } from '../benchmark/pool.ts';
import type { EvaluationResult } from '../benchmark/result.ts';
import type { ExamProgress } from '../benchmark/run.ts';
import type { Engine } from '../engine.ts';
import { configOf, DEFAULT_BUDGET, defaultMaxTokens, type Examinee, evaluate, limited } from '../recipe/evaluate.ts';
import { openRetriever } from '../recipe/open-retriever.ts';
import { evaluationText, evaluationWarnings } from '../report/evaluation/evaluation.ts';
import { droppedLine, warningLines } from '../report/evaluation/load.ts';
import { count } from '../report/format.ts';
import { visible } from '../report/visible.ts';
import type { Retriever } from '../retriever.ts';
import type { Run } from '../store/run.ts';
import { STRATEGIES, type StrategyName } from '../strategy/open.ts';
import { GENERAL, type GeneralDialect } from '../text/dialect/fit.ts';
import { InfraError, UserError } from '../util/error.ts';
import { countOption } from './count-option.ts';
import { addEngineFlags, chosenEngine, chosenPolicy, type EngineFlags, titleOf } from './engine-flags.ts';
import { helpExamples } from './examples.ts';
import { inRun } from './in-run.ts';
import { advance, duration, secondsLeft, startMeter } from './meter.ts';
import type { PolicyChoice } from './policy-of.ts';
import { openProgress, type ProgressView } from './progress.ts';
import type { Terminal } from './terminal.ts';
import { codeVersion } from './version.ts';

interface Flags extends EngineFlags {
  readonly strategy: StrategyName | 'all';
  readonly index?: string;
  readonly manifest: string;
  readonly limit?: number;
  readonly out?: string;
  readonly topK: number;
  readonly turns: number;
  readonly maxTokens?: number;
  readonly dialect: GeneralDialect;
  readonly json?: boolean;
}

/** Need no index. */
const WITHOUT_SEARCH: readonly string[] = ['direct', 'cot'] satisfies readonly StrategyName[];
const NO_INDEX: Retriever = { fingerprint: 'none', search: async (queries) => queries.map(() => []) };

export function evaluateCommand(terminal: Terminal): Command {
  const command = new Command('evaluate')
    .description('Take an exam: greedy, one attempt a question; runs that were stopped go on')
    .requiredOption('--manifest <file>', 'questions: of "crossfold manifest", or in any upstream form')
    .option('--index <where>', 'folder of "crossfold index", or address of a search server')
    .addOption(
      new Option('--strategy <name>', 'how questions are answered').choices([...STRATEGIES, 'all']).default('search'),
    )
    .option('--out <dir>', 'folder of the evaluation (default: runs/, then a name made from the flags)')
    .addOption(countOption('--limit <n>', 'at most so many questions of each set'))
    .addOption(countOption('--top-k <n>', 'passages a search').default(DEFAULT_BUDGET.topK))
    .addOption(countOption('--turns <n>', 'replies a question; one fewer searches').default(DEFAULT_BUDGET.turns))
    .addOption(countOption('--max-tokens <n>', 'tokens a reply (default: 512, fewer for small models)'))
    .addOption(
      new Option('--dialect <name>', 'of strategy search, for models that were not trained here')
        .choices(Object.keys(GENERAL))
        .default('search-r1'),
    )
    .option('--json', 'print the figures as JSON');
  return addEngineFlags(command)
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold evaluate --manifest exam.jsonl --index wiki', 'the shipped reader'],
        ['crossfold evaluate --manifest exam.jsonl --index wiki --policy runs/mine:crossfit', 'the solver of a run'],
        ['crossfold evaluate --manifest nq.jsonl --index http://127.0.0.1:8000 --strategy all', 'a search server'],
        ['crossfold evaluate --manifest nq.jsonl --strategy cot --engine openai:URL --model NAME', 'a model server'],
      ]),
    )
    .addHelpText('after', '\nRunning the same command again continues, and tries again what outages took.')
    .action((flags: Flags) => evaluateAll(flags, terminal));
}

async function evaluateAll(flags: Flags, terminal: Terminal): Promise<void> {
  const progress = openProgress(terminal, 0, flags.json === true);
  const names = flags.strategy === 'all' ? STRATEGIES : [flags.strategy];
  let close = async (): Promise<void> => {};
  try {
    progress.note('reading questions');
    const manifest = await examOf(flags, progress);
    const choice = await chosenPolicy(flags);
    const out = flags.out ?? join('runs', nameOf(flags, choice));
    await refuseFile(out);
    const retriever = await retrieverOf(flags, names, progress);
    close = retriever.close;
    progress.note('starting the engine');
    const engine = await chosenEngine(flags, choice, progress);
    close = async () => void (await Promise.all([retriever.close(), engine.close()]));
    const results: { readonly strategy: StrategyName; readonly dir: string; readonly result: EvaluationResult }[] = [];
    for (const strategy of names) {
      const dir = flags.strategy === 'all' ? join(out, strategy) : out;
      const examinee = await examineeOf(flags, choice, engine, retriever, strategy);
      const config = configOf(examinee, manifest);
      const spec = { recipe: 'evaluate', config, seed: 0, codeVersion: codeVersion(), parents: choice?.parents ?? [] };
      const attempt = (run: Run, signal: AbortSignal) =>
        evaluate(examinee, manifest, run, reporter(strategy, progress), signal);
      const result = await inRun(dir, spec, 'batch', progress, attempt, '--out');
      progress.close();
      for (const warning of evaluationWarnings(result)) progress.warn(`Warning: ${strategy}: ${warning}`);
      results.push({ strategy, dir, result });
      if (flags.json !== true) terminal.out(textOf(`${strategy}, ${titleOf(flags)}`, dir, result));
    }
    if (flags.json === true) {
      const heads = results.map(({ strategy, dir, result }) => ({
        strategy,
        dir,
        ...headOf(result),
        warnings: evaluationWarnings(result),
      }));
      terminal.json(flags.strategy === 'all' ? heads : heads[0]);
    }
    refuseIncomplete(results.map(({ result }) => result));
  } finally {
    progress.close();
    await close();
  }
}

async function examOf({ manifest: file, limit }: Flags, progress: ProgressView): Promise<Manifest> {
  const { report, ...manifest } = await readManifest(file);
  const dropped = droppedLine(report);
  for (const line of [...warningLines(report), ...(dropped === null ? [] : [`${file}: ${dropped}`])])
    progress.warn(`Warning: ${line}`);
  return limited(manifest, limit);
}

async function retrieverOf(
  { index }: Flags,
  names: readonly StrategyName[],
  progress: ProgressView,
): Promise<Retriever & { close(): Promise<void> }> {
  if (index !== undefined) {
    progress.note(`opening ${index}`);
    return openRetriever(index);
  }
  const searching = names.find((name) => !WITHOUT_SEARCH.includes(name));
  if (searching !== undefined)
    throw new UserError(
      `strategy ${searching} searches: give --index, the folder of "crossfold index" or the address of a search server`,
    );
  return { ...NO_INDEX, close: async () => {} };
}

async function examineeOf(
  { topK, turns, maxTokens, dialect }: Flags,
  choice: PolicyChoice | null,
  engine: Engine,
  retriever: Retriever,
  strategy: StrategyName,
): Promise<Examinee> {
  return {
    engine,
    policy: await engine.policy(choice?.id ?? engine.base.policy),
    kind: choice === null ? 'server' : 'local',
    retriever,
    strategy,
    budget: { topK, turns, maxTokens: maxTokens ?? defaultMaxTokens(engine) },
    dialect,
  };
}

const nameOf = ({ strategy, manifest, limit, model }: Flags, choice: PolicyChoice | null): string =>
  [
    'evaluate',
    choice?.name ?? model ?? 'model',
    strategy,
    stemOf(manifest),
    ...(limit === undefined ? [] : [`${limit}`]),
  ]
    .join('-')
    .replace(/[^\w.-]+/g, '_');

/** `rag  128/1,325  2 lost  3m20s left` */
function reporter(strategy: string, progress: ProgressView): (at: ExamProgress) => void {
  const seconds = (): number => performance.now() / 1000;
  let meter = startMeter(seconds());
  return ({ done, total, fresh, failed }) => {
    meter = advance(meter, { at: seconds(), done, tokens: fresh });
    const left = secondsLeft(meter, total);
    progress.note(
      [
        strategy,
        `${count(done)}/${count(total)}`,
        ...(failed > 0 ? [`${count(failed)} lost`] : []),
        ...(left === null ? [] : [`${duration(left)} left`]),
      ].join('  '),
    );
  };
}

async function refuseFile(out: string): Promise<void> {
  const found = await stat(out).catch(() => null);
  if (found !== null && !found.isDirectory())
    throw new UserError(`${out}: is a file; --out is a folder, give a new one`);
}

const textOf = (title: string, dir: string, result: EvaluationResult): string =>
  [
    visible(title),
    '',
    evaluationText(result, { ran: true }),
    `Results in ${visible(join(dir, 'results.jsonl'))}, what was said and found in ${visible(join(dir, 'rollouts.jsonl'))}`,
    '',
  ].join('\n');

/** Everything is kept and shown; the exit code says that it is not whole. */
function refuseIncomplete(results: readonly EvaluationResult[]): void {
  const lost = results.flatMap(({ items }) => items.filter(({ stop }) => stop === 'error'));
  if (lost.length === 0) return;
  const [what, those] =
    lost.length === 1
      ? ['1 question was lost to an outage', 'that']
      : [`${count(lost.length)} questions were lost to outages`, 'those'];
  throw new InfraError(
    `${what} (${lost[0]!.error ?? 'no reason given'}); run the same command again to try just ${those}`,
  );
}
