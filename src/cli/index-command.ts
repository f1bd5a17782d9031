/** `crossfold index PATH... --out DIR`: a search index of a corpus or of one's own documents. */
import { Command, Option } from 'commander';
import { buildIndexLocked } from '../recipe/index-build.ts';
import { count } from '../report/format.ts';
import { left, right, table } from '../report/table.ts';
import { visible } from '../report/visible.ts';
import { type CorpusReport, type Reason, reasons } from '../retriever/corpus/report.ts';
import type { BuildProgress, BuiltIndex } from '../retriever/index/build.ts';
import { UserError } from '../util/error.ts';
import { type Countdown, openCountdown, type Step } from './countdown.ts';
import { helpExamples } from './examples.ts';
import { quoted } from './shell.ts';
import { openStop } from './stop.ts';
import type { Terminal } from './terminal.ts';
import { codeVersion } from './version.ts';

interface Flags {
  readonly out: string;
  readonly words: number;
  readonly k1: number;
  readonly b: number;
  readonly encoder?: string;
  readonly ann?: boolean;
  readonly strict?: boolean;
  readonly json?: boolean;
}

/** @param args what follows `crossfold`: told to whoever opens an index that was not finished. */
export function indexCommand(terminal: Terminal, args: readonly string[]): Command {
  return new Command('index')
    .description('Build a search index of documents or passages')
    .argument('<path...>', 'folders or files: .md .rst .txt .html .pdf .jsonl .json .tsv, each also .gz, and .parquet')
    .requiredOption('--out <dir>', 'folder of the index; an index that is there is replaced')
    .addOption(numberOption('--words <n>', 'about so many words a passage; 0 keeps every document whole', 100))
    .addOption(numberOption('--k1 <x>', 'BM25: how slowly repeated words stop counting', 0.9))
    .addOption(numberOption('--b <x>', 'BM25: how much long passages are held back, 0 to 1', 0.4))
    .option('--encoder <spec>', 'also index by meaning: http://host:port/v1#model, or the folder of a local model')
    .option('--ann', 'with --encoder: a graph for approximate search, for over 100,000 passages')
    .option('--strict', 'stop at the first line, file or folder that cannot be used, instead of passing over it')
    .option('--json', 'print the manifest and what was left out as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold index ./handbook --out idx', 'a folder of your own documents'],
        ['crossfold index wiki.jsonl.gz --out idx --words 0', 'passages that are cut already'],
        ['crossfold index ./docs notes.pdf --out idx --encoder http://127.0.0.1:8080/v1#intfloat/e5-base-v2', ''],
        ['crossfold search "how do I start the server?" --index idx', 'then'],
      ]),
    )
    .addHelpText('after', '\nRunning the same command again restarts a build that was stopped; vectors are kept.')
    .action((paths: string[], flags: Flags) => index(paths, flags, terminal, args));
}

function numberOption(flags: string, about: string, standard: number): Option {
  const option = new Option(flags, about).default(standard);
  return option.argParser((typed) => {
    const n = Number(typed);
    if (typed.trim() !== '' && Number.isFinite(n)) return n;
    throw new UserError(`${option.long} is "${typed}"; expected a number (default ${standard})`);
  });
}

async function index(paths: readonly string[], flags: Flags, terminal: Terminal, args: readonly string[]) {
  const { out, words, k1, b, encoder, ann = false, strict = false, json = false } = flags;
  if (ann && encoder === undefined) throw new UserError('--ann is for vectors; give --encoder too');
  const countdown = openCountdown(terminal, json);
  const stop = openStop(() => countdown.warn('Stopping. Ctrl-C again stops at once.'), 'passage');
  try {
    const built = await buildIndexLocked({
      inputs: paths,
      out,
      words,
      k1,
      b,
      strict,
      ...(encoder === undefined ? {} : { encoder }),
      ann,
      version: codeVersion(),
      command: `crossfold ${args.map(quoted).join(' ')}`,
      signal: stop.signal,
      progress: (progress) => tell(progress, countdown),
    });
    countdown.close();
    if (json) terminal.json({ out, ...built });
    else for (const line of summary(out, built)) terminal.out(line);
  } finally {
    countdown.close();
    stop.close();
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

const phases = {
  reading: { phase: 'reading', show: megabytes },
  merging: { phase: 'sorting words', show: count },
  encoding: { phase: 'encoding passages', show: count },
  graph: { phase: 'building the graph', show: count },
} satisfies Record<BuildProgress['phase'], Pick<Step, 'phase' | 'show'>>;

const tell = ({ phase, done, total }: BuildProgress, countdown: Countdown): void =>
  countdown.report({ ...phases[phase], done, total });

function summary(out: string, { manifest, report }: BuiltIndex): readonly string[] {
  const rows: readonly (readonly [string, string])[] = [
    ['files read', count(report.files)],
    ...passedOver(report),
    ['documents', count(manifest.sources)],
    ['passages', count(manifest.passages)],
    ['different words', count(manifest.words)],
    ...(manifest.dense === null
      ? []
      : [['vectors', `${count(manifest.dense.rows)} of ${manifest.dense.encoder}`] as const]),
    ...dropped(report),
  ];
  return [
    ...table(
      [left('Index'), right('')],
      rows.map((row) => row.map(visible)),
    ),
    ...problemLines(report),
    `Corpus ${manifest.corpus}, index in ${visible(out)}`,
    `Next: crossfold search "..." --index ${visible(quoted(out))}`,
  ];
}

const passedOver = ({ otherFiles, linkedFolders, hidden }: CorpusReport): readonly (readonly [string, string])[] =>
  (
    [
      ['files of other kinds', otherFiles],
      ['links to folders', linkedFolders],
      ['hidden files and folders', hidden],
    ] as const
  ).flatMap(([name, n]) => (n > 0 ? [[name, count(n)] as const] : []));

const dropped = ({ skipped, skippedBy }: CorpusReport): readonly (readonly [string, string])[] =>
  skipped === 0
    ? []
    : [
        ['left out', count(skipped)],
        ...(Object.keys(reasons) as Reason[])
          .filter((reason) => skippedBy[reason] > 0)
          .map((reason) => [`  ${reasons[reason]}`, count(skippedBy[reason])] as const),
      ];

const shownProblems = 5;

function problemLines({ problems, skipped }: CorpusReport): readonly string[] {
  const shown = problems.slice(0, shownProblems).map((problem) => `  ${visible(problem)}`);
  const more = skipped - shown.length;
  return shown.length === 0 ? [] : ['Left out:', ...shown, ...(more > 0 ? [`  and ${count(more)} more`] : [])];
}
