/** Loads a file of questions in any upstream form (forms.ts) or container (container.ts), and says what it dropped. */

import { UserError } from '../../util/error.ts';
import { contentId } from '../../util/id.ts';
import type { ExamQuestion } from '../result.ts';
import { setNamed } from '../seven.ts';
import type { Container } from './container.ts';
import { FORMS, type Form, fieldOf, PASSAGE_COLUMNS } from './forms.ts';
import { cleanGold, type GoldNote, hasWords } from './gold.ts';
import { type Located, openRows, type Row } from './rows.ts';

export type Dropped = 'no_question' | 'no_gold' | 'unanswerable' | 'duplicate';
/** `id_made`: the file has no ids, so one was made from question and gold. `id_renamed`: one id for two questions. */
export type LoadNote = GoldNote | 'id_made' | 'id_renamed';

export interface LoadReport {
  readonly file: string;
  readonly form: string;
  readonly container: Container;
  readonly rows: number;
  readonly dropped: Readonly<Record<Dropped, number>>;
  readonly notes: Readonly<Partial<Record<LoadNote, number>>>;
  /** Where the first dropped row is, and why. */
  readonly example: string | null;
}

export interface Loaded {
  readonly questions: readonly ExamQuestion[];
  readonly report: LoadReport;
}

export interface LoadOptions {
  /** The set that questions belong to where their row does not say. */
  readonly set: string;
  /** Name of a form; default: as the first row shows. */
  readonly form?: string;
  /** Hears now and then which share of the file was read; null when it is not known. */
  readonly progress?: (share: number | null) => void;
}

/** Rows from one word on progress to the next. */
const often = 1000;

/** Throws UserError when no form fits or no question remains. */
export async function loadQuestions(path: string, { set, form: wanted, progress }: LoadOptions): Promise<Loaded> {
  const { container, rows, share } = await openRows(path, PASSAGE_COLUMNS);
  const dropped: Record<Dropped, number> = { no_question: 0, no_gold: 0, unanswerable: 0, duplicate: 0 };
  const notes: Partial<Record<LoadNote, number>> = {};
  const byId = new Map<string, ExamQuestion>();
  let form: Form | undefined;
  let count = 0;
  let example: string | null = null;
  for await (const located of rows) {
    if (++count % often === 0) progress?.(share());
    form ??= formOf(located, wanted);
    const read = readRow(located.row, form, set);
    const id = typeof read === 'string' ? '' : freeId(read.question, byId);
    const why = typeof read === 'string' ? read : id === null ? 'duplicate' : null;
    if (why !== null) {
      dropped[why]++;
      example ??= `${located.where}: ${why}`;
    }
    if (typeof read === 'string') continue;
    for (const note of read.notes) notes[note] = (notes[note] ?? 0) + 1;
    if (id === null) continue;
    if (id !== read.question.id) notes.id_renamed = (notes.id_renamed ?? 0) + 1;
    byId.set(id, { ...read.question, id });
  }
  if (form === undefined) throw new UserError(`${path}: holds no rows`);
  const report = { file: path, form: form.name, container, rows: count, dropped, notes, example };
  if (byId.size === 0)
    throw new UserError(`${path}: none of ${count} rows is a question with gold, for example ${example}`);
  return { questions: [...byId.values()], report };
}

function formOf({ row, where }: Located, wanted: string | undefined): Form {
  if (wanted !== undefined) {
    const form = FORMS.find(({ name }) => name === wanted);
    if (form) return form;
    throw new UserError(`--form is "${wanted}"; expected one of ${FORMS.map(({ name }) => name).join(', ')}`);
  }
  const form = FORMS.find(({ is }) => is(row));
  if (form) return form;
  throw new UserError(
    `${where}: no form of questions that is known: it has the fields ${fieldNames(row)}. Expected ${FORMS.map(({ about }) => about).join('; ')}.`,
  );
}

/** For messages. */
const fieldNames = (row: Row): string => Object.keys(row).slice(0, 30).join(', ');

interface Read {
  readonly question: ExamQuestion;
  readonly notes: readonly LoadNote[];
}

function readRow(row: Row, form: Form, fallback: string): Read | Dropped {
  const question = fieldOf(row, form.question);
  if (typeof question !== 'string' || !hasWords(question)) return 'no_question';
  if (row.answerable === false || row.answerable === 'false') return 'unanswerable';
  const { aliases, notes } = cleanGold(form.gold(row), form.goldIs);
  if (aliases.length === 0) return 'no_gold';
  const named = fieldOf(row, ['set', 'dataset']);
  const set = typeof named === 'string' && named !== '' ? (setNamed(named)?.name ?? named) : fallback;
  const given = fieldOf(row, form.id);
  const has = (typeof given === 'string' && given !== '') || typeof given === 'number';
  // A row that names its set has an id that is its own among all sets; upstream ids ("test_0") are not.
  const own = has ? String(given) : contentId(JSON.stringify([question, aliases])).slice(0, 16);
  const id = typeof named === 'string' || own.startsWith(`${set}_`) ? own : `${set}_${own}`;
  const metadata = metadataOf(row, form, given);
  return {
    question: {
      id,
      set,
      question,
      golden: aliases,
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    },
    notes: has ? notes : [...notes, 'id_made'],
  };
}

function metadataOf(row: Row, form: Form, id: unknown): Readonly<Record<string, unknown>> {
  const given = row.metadata;
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Row;
  const kept = form.keep.filter((key) => row[key] !== undefined).map((key) => [key, row[key]] as const);
  const hops = Array.isArray(row.question_decomposition) ? [['hops', row.question_decomposition.length] as const] : [];
  return Object.fromEntries([...(id === undefined ? [] : [['upstream_id', id] as const]), ...kept, ...hops]);
}

/** The id, or one beside it when it is taken by another question; null when this very question is there already. */
function freeId(question: ExamQuestion, taken: ReadonlyMap<string, ExamQuestion>): string | null {
  for (let n = 1; ; n++) {
    const id = n === 1 ? question.id : `${question.id}~${n}`;
    const other = taken.get(id);
    if (other === undefined) return id;
    const same = other.question === question.question && other.golden.join('\n') === question.golden.join('\n');
    if (same) return null;
  }
}
