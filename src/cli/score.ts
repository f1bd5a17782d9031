/** `crossfold score FILE`: EM, Cover-EM and F1 of a file of predictions, without running anything. */
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { headOf, refuseForeign, writeEvaluation } from '../benchmark/files.ts';
import { PASSAGE_COLUMNS } from '../benchmark/load/forms.ts';
import { readManifest } from '../benchmark/manifest-file.ts';
import { stemOf } from '../benchmark/pool.ts';
import { type Scored, scorePredictions } from '../benchmark/predictions.ts';
import { setNamed } from '../benchmark/seven.ts';
import { evaluationText } from '../report/evaluation/evaluation.ts';
import { asMarkdown, asText } from '../report/evaluation/grid.ts';
import { warningLines } from '../report/evaluation/load.ts';
import { agreementLines, scoreWarnings } from '../report/evaluation/score.ts';
import { visible } from '../report/visible.ts';
import { helpExamples } from './examples.ts';
import { type FieldFlags, readPredictions } from './prediction-fields.ts';
import { openProgress } from './progress.ts';
import { openReading, watched } from './reading.ts';
import type { Terminal } from './terminal.ts';

interface Flags extends FieldFlags {
  readonly questions?: string;
  readonly missingIsWrong?: boolean;
  readonly out?: string;
  readonly markdown?: boolean;
  readonly json?: boolean;
}

export function scoreCommand(terminal: Terminal): Command {
  return new Command('score')
    .description('Score a file of predictions: JSON Lines, JSON, CSV, TSV or Parquet, also .gz')
    .argument('<file>', 'predictions')
    .option(
      '--questions <file>',
      'questions with their gold, a manifest or any upstream form; joined by id, else by text',
    )
    .option('--id-field <name>', 'field with the id of the question (default: id)')
    .option('--question-field <name>', 'field with its text (default: question)')
    .option('--prediction-field <name>', 'field with the prediction; a.b.c goes into objects (default: prediction)')
    .option('--gold-field <name>', 'field with the gold answers (default: golden_answers)')
    .option('--set-field <name>', 'field that names the set, or any other group (default: set or dataset)')
    .option('--verdict-field <name>', 'field with a yes or no of somebody else, to hold against EM')
    .addOption(
      new Option('--extract <how>', 'the prediction is the text, or the last <answer> of a transcript')
        .choices(['text', 'last-answer-tag'])
        .default('text'),
    )
    .option('--missing-is-wrong', 'a question of --questions that nothing answers scores 0, instead of being left out')
    .option('--out <dir>', 'new folder to keep it in as an evaluation, for compare-evals')
    .addOption(new Option('--markdown', 'print the table as Markdown').conflicts('json'))
    .option('--json', 'print all figures as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold score predictions.jsonl', 'rows of {id, prediction, golden_answers}'],
        ['crossfold score out.csv --questions exam.jsonl --prediction-field answer', 'gold from a question file'],
        ['crossfold score log.jsonl.gz --prediction-field transcript --extract last-answer-tag', 'from transcripts'],
        ['crossfold score log.jsonl --set-field model --verdict-field judge', 'a row a model, and a judge beside EM'],
      ]),
    )
    .action((file: string, flags: Flags) => score(file, flags, terminal));
}

async function score(file: string, flags: Flags, terminal: Terminal): Promise<void> {
  const { json = false, markdown = false, out } = flags;
  const progress = openProgress(terminal, 0, json);
  try {
    if (out !== undefined) await refuseForeign(out);
    progress.note(`scoring ${file}`);
    const asked = flags.questions === undefined ? null : await readManifest(flags.questions);
    for (const line of asked === null ? [] : warningLines(asked.report)) progress.warn(`Warning: ${line}`);
    const reading = openReading(progress, terminal);
    const { container, rows, share } = await readPredictions(file, flags, asked !== null, PASSAGE_COLUMNS);
    const stem = stemOf(file);
    const scored = await scorePredictions(
      watched(rows, () => reading(`scoring ${file}`, share())),
      {
        questions: asked?.questions ?? null,
        set: setNamed(stem)?.name ?? stem,
        table: container === 'csv' || container === 'tsv',
        missingIsWrong: flags.missingIsWrong ?? false,
        fingerprint: { predictions: basename(file), extraction: flags.extract },
      },
    );
    if (out !== undefined) await writeEvaluation(out, scored.evaluation);
    for (const line of scoreWarnings(scored.report)) progress.warn(`Warning: ${line}`);
    progress.close();
    if (json) return terminal.json(jsonOf(scored));
    terminal.out(
      [
        evaluationText(scored.evaluation, { layout: markdown ? asMarkdown : asText, ran: false }),
        ...agreementLines(scored.report),
        ...(out === undefined ? [] : [`Kept in ${visible(out)}.`]),
      ].join('\n'),
    );
  } finally {
    progress.close();
  }
}

const jsonOf = ({ evaluation, report }: Scored) => ({ ...headOf(evaluation), report });
