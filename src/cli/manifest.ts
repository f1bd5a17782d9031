/** `crossfold manifest --out FILE`: the fixed 1,325 questions of the exam, chosen by the hash of their ids. */
import { Command } from 'commander';
import { fixedManifest, type Shortage } from '../benchmark/manifest.ts';
import { writeManifest } from '../benchmark/manifest-file.ts';
import { findQuestionFiles, loadPools } from '../benchmark/pool.ts';
import { SEVEN } from '../benchmark/seven.ts';
import { droppedLine, warningLines } from '../report/evaluation/load.ts';
import { count } from '../report/format.ts';
import { left, right, table } from '../report/table.ts';
import { visible } from '../report/visible.ts';
import { UserError } from '../util/error.ts';
import { helpExamples } from './examples.ts';
import { openProgress } from './progress.ts';
import { openReading } from './reading.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly out: string;
  readonly questions: readonly string[];
  readonly form?: string;
  readonly partial?: boolean;
  readonly json?: boolean;
}

const TOTAL = SEVEN.reduce((sum, { size }) => sum + size, 0);

export function manifestCommand(terminal: Terminal): Command {
  return new Command('manifest')
    .description(`Choose the fixed ${count(TOTAL)} questions of the exam from the files of the seven sets`)
    .requiredOption('--out <file>', 'JSON Lines file to write; its hash and counts go to FILE.about.json')
    .option(
      '--questions <where...>',
      'folder with files named after the sets, or SET=FILE; several files of a set are pooled',
      ['questions'],
    )
    .option('--form <name>', 'upstream form of all files (default: as their first rows show)')
    .option('--partial', 'write it even if a set is missing or too small')
    .option('--json', 'print hash, counts and what was left out as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold manifest --questions ./questions --out exam.jsonl', 'nq.jsonl, popqa.tsv.gz, … in one folder'],
        ['crossfold manifest --questions ./q nq=NQ-open.dev.jsonl --out exam.jsonl', 'one set from another file'],
      ]),
    )
    .action((flags: Flags) => makeManifest(flags, terminal));
}

async function makeManifest({ out, questions, form, partial = false, json = false }: Flags, terminal: Terminal) {
  const progress = openProgress(terminal, 0, json);
  try {
    const reading = openReading(progress, terminal);
    const files = await findQuestionFiles(questions);
    const { bySet, reports } = await loadPools(files, form, ({ path }, share) => reading(`reading ${path}`, share));
    for (const line of reports.flatMap(warningLines)) progress.warn(`Warning: ${line}`);
    const { manifest, short } = fixedManifest(bySet);
    if (short.length > 0 && !partial) throw new UserError(shortText(short));
    await writeManifest(out, manifest, { reports, short });
    progress.close();
    const { hash, counts } = manifest;
    if (json)
      return terminal.json({ out, hash, questions: manifest.questions.length, sets: counts, short, files: reports });
    const rows = reports.map((report) => [
      report.set,
      count(counts[report.set] ?? 0),
      count(bySet.get(report.set)?.length ?? 0),
      report.form,
      visible(report.file),
      droppedLine(report) ?? '',
    ]);
    const columns = [left('set'), right('chosen'), right('of'), left('form'), left('file'), left('')];
    terminal.out(
      [
        ...table(columns, rows),
        '',
        ...(short.length > 0 ? [shortText(short)] : []),
        `${count(manifest.questions.length)} questions in ${visible(out)}, hash ${hash}`,
      ].join('\n'),
    );
  } finally {
    progress.close();
  }
}

const shortText = (short: readonly Shortage[]): string =>
  `The manifest of ${count(TOTAL)} questions lacks some: ${short
    .map(({ set, has, needs }) => `${set} has ${has === 0 ? 'none' : count(has)} of ${needs}`)
    .join(', ')}. Name more files with --questions SET=FILE, or write it so with --partial.`;
