/**
 * Scores predictions that somebody else made. A row is a question with its prediction and, unless a question file is given, its
 * gold. Nothing is run. A row without a prediction is no answer and scores 0; a question without a row is missing, and makes
 * the evaluation incomplete.
 */

import { UserError } from '../util/error.ts';
import { contentId } from '../util/id.ts';
import { faultText, type Metrics, metricFault } from './invariant.ts';
import { cleanGold, type GoldNote } from './load/gold.ts';
import { manifestOf } from './manifest.ts';
import { type EvaluationResult, type ExamQuestion, evaluationOf, type Fingerprint, scoreItem } from './result.ts';

/** One row of a predictions file. Undefined: the row has no such field. */
export interface PredictionRow {
  /** For messages. */
  readonly where: string;
  readonly id?: string | undefined;
  readonly question?: string | undefined;
  readonly set?: string | undefined;
  readonly gold?: unknown;
  readonly prediction: string | null;
  /** What the file says it scored. */
  readonly metrics: Metrics;
  /** What somebody else said of the prediction. */
  readonly verdict?: boolean | null | undefined;
}

/** Verdicts of the file beside our EM. */
export interface Agreement {
  readonly both: number;
  readonly verdictOnly: number;
  readonly emOnly: number;
  readonly neither: number;
  /** Rows whose verdict is neither yes nor no. */
  readonly unclear: number;
}

export interface Scored {
  readonly evaluation: EvaluationResult;
  readonly report: {
    readonly rows: number;
    /** Rows with a null or empty prediction. */
    readonly unanswered: number;
    /** Questions that no row answers. */
    readonly missing: number;
    /** Rows of questions that the question file does not have. */
    readonly strangers: number;
    /** Rows left out: no gold that can be matched. */
    readonly withoutGold: number;
    readonly notes: Readonly<Partial<Record<GoldNote, number>>>;
    readonly agreement: Agreement | null;
  };
}

export interface ScoreOptions {
  /** The questions that were asked; null: as the rows say. */
  readonly questions: readonly ExamQuestion[] | null;
  /** Set of rows that name none. */
  readonly set: string;
  /** Cells of a table hold gold as text: no reason to warn. */
  readonly table: boolean;
  /** Counts questions without a row as wrong. */
  readonly missingIsWrong: boolean;
  readonly fingerprint: Fingerprint;
}

/** Throws UserError for a question that is answered twice, metrics that cannot be right, and a file without any pair. */
export async function scorePredictions(rows: AsyncIterable<PredictionRow>, options: ScoreOptions): Promise<Scored> {
  const asked = options.questions === null ? null : lookup(options.questions);
  const pairs = new Map<string, { readonly question: ExamQuestion; readonly row: PredictionRow }>();
  const notes: Partial<Record<GoldNote, number>> = {};
  const counts = { rows: 0, unanswered: 0, strangers: 0, withoutGold: 0 };
  for await (const row of rows) {
    counts.rows++;
    refuseWrongMetrics(row);
    const question = asked === null ? own(row, counts.rows, options, notes) : asked(row);
    if (question === null) {
      if (asked === null) counts.withoutGold++;
      else counts.strangers++;
      continue;
    }
    const other = pairs.get(question.id);
    if (other !== undefined)
      throw new UserError(
        `${row.where}: ${JSON.stringify(question.id)} was answered in ${other.row.where} already; expected one prediction a question`,
      );
    if (isBlank(row.prediction)) counts.unanswered++;
    pairs.set(question.id, { question, row });
  }
  if (pairs.size === 0)
    throw new UserError(
      asked === null
        ? `None of ${counts.rows} rows has gold that can be matched; name its field with --gold-field, or a question file with --questions.`
        : `None of ${counts.rows} rows belongs to a question of --questions; rows are joined by id, or else by the text of the question. See --id-field and --question-field.`,
    );
  const items = [...pairs.values()].map(({ question, row }) => scoreItem(question, outcomeOf(row.prediction)));
  const questions = options.questions ?? [...pairs.values()].map(({ question }) => question);
  const missing = questions.filter(({ id }) => !pairs.has(id));
  const all = options.missingIsWrong ? [...items, ...missing.map((q) => scoreItem(q, outcomeOf(null)))] : items;
  const fingerprint = { manifest: manifestOf(questions).hash, ...options.fingerprint };
  const byId = new Map(items.map((item) => [item.id, item.em]));
  const verdicts = [...pairs].map(([id, { row }]) => ({ verdict: row.verdict, em: byId.get(id) === 1 }));
  return {
    evaluation: evaluationOf(fingerprint, all, questions),
    report: { ...counts, missing: missing.length, notes, agreement: agreementOf(verdicts) },
  };
}

/** A file of predictions does not say how an answer came to be. */
const outcomeOf = (prediction: string | null) => ({ prediction, searches: 0, stop: 'answer' as const });

const isBlank = (text: string | null): boolean => text === null || text.trim() === '';

/** Finds the question of a row by its id (with or without the set before it), else by its text. */
function lookup(questions: readonly ExamQuestion[]): (row: PredictionRow) => ExamQuestion | null {
  const byId = new Map<string, ExamQuestion>();
  const byText = new Map<string, ExamQuestion | null>();
  for (const question of questions) {
    const upstream = question.metadata?.upstream_id;
    for (const id of [question.id, ...(upstream === undefined ? [] : [String(upstream)])])
      if (!byId.has(id) || id === question.id) byId.set(id, question);
    const text = question.question.trim();
    // Two questions of one wording cannot be told apart.
    byText.set(text, byText.has(text) ? null : question);
  }
  return ({ id, question }) =>
    (id === undefined ? undefined : byId.get(id)) ??
    (question === undefined ? null : (byText.get(question.trim()) ?? null));
}

/** The question as the row itself gives it; null without gold. */
function own(
  row: PredictionRow,
  n: number,
  { set, table }: ScoreOptions,
  notes: Partial<Record<GoldNote, number>>,
): ExamQuestion | null {
  const gold = cleanGold(row.gold, 'list');
  for (const note of table ? [] : gold.notes) notes[note] = (notes[note] ?? 0) + 1;
  if (gold.aliases.length === 0) return null;
  const made = row.question === undefined ? `row-${n}` : contentId(row.question).slice(0, 16);
  return { id: row.id ?? made, set: row.set ?? set, question: row.question ?? '', golden: gold.aliases };
}

function refuseWrongMetrics({ where, metrics }: PredictionRow): void {
  const fault = metricFault(metrics);
  if (fault !== null)
    throw new UserError(
      `${where}: ${fault}: ${faultText[fault]}. Take its metrics out of the file to score it anyway.`,
    );
}

function agreementOf(
  rows: readonly { readonly verdict?: boolean | null | undefined; readonly em: boolean }[],
): Agreement | null {
  const given = rows.filter(({ verdict }) => verdict !== undefined);
  if (given.length === 0) return null;
  const count = (wanted: boolean | null, em?: boolean): number =>
    given.filter((row) => row.verdict === wanted && (em === undefined || row.em === em)).length;
  return {
    both: count(true, true),
    verdictOnly: count(true, false),
    emOnly: count(false, true),
    neither: count(false, false),
    unclear: count(null),
  };
}
