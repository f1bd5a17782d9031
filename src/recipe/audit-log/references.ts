/** Right answers from a question file, found by the id of a question, else by its text. */
import { FORMS } from '../../benchmark/load/forms.ts';
import { loadQuestions } from '../../benchmark/load/questions.ts';
import { openRows } from '../../benchmark/load/rows.ts';
import { normalize } from '../../text/normalize.ts';
import { UserError } from '../../util/error.ts';
import { MEANINGS } from './fields.ts';
import { answersOf, textOf } from './value.ts';

export interface References {
  readonly count: number;
  find(question: string, id: string | null): readonly string[] | null;
}

interface Entry {
  readonly question: string;
  readonly ids: readonly string[];
  readonly answers: readonly string[];
}

/** A file in any form of the exam, or rows with a question and a reference. UserError: it is neither. */
export async function openReferences(file: string): Promise<References> {
  const entries = (await isExamForm(file)) ? await examEntries(file) : await plainEntries(file);
  if (entries.length === 0) throw new UserError(`${file}: no row has a question and a right answer`);
  const byText = new Map<string, readonly string[]>();
  const byId = new Map<string, readonly string[]>();
  for (const { question, ids, answers } of entries) {
    const key = normalize(question);
    // One text may ask about two things of one name: without an id, either answer is right.
    byText.set(key, [...new Set([...(byText.get(key) ?? []), ...answers])]);
    for (const id of ids) byId.set(id, answers);
  }
  return {
    count: entries.length,
    find: (question, id) => (id === null ? null : (byId.get(id) ?? null)) ?? byText.get(normalize(question)) ?? null,
  };
}

async function isExamForm(file: string): Promise<boolean> {
  for await (const { row } of (await openRows(file)).rows) return FORMS.some(({ is }) => is(row));
  throw new UserError(`${file}: is empty; expected questions with right answers`);
}

async function examEntries(file: string): Promise<Entry[]> {
  const { questions } = await loadQuestions(file, { set: '' });
  return questions.map(({ id, question, golden, metadata }) => ({
    question,
    ids: [id, metadata?.upstream_id].flatMap((name) => textOf(name) ?? []),
    answers: golden,
  }));
}

async function plainEntries(file: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const { row } of (await openRows(file)).rows) {
    const first = (names: readonly string[]): unknown => names.map((name) => row[name]).find((value) => value != null);
    const question = textOf(first(MEANINGS.question.names));
    const answers = answersOf(first(MEANINGS.reference.names));
    if (question === null || answers === null) continue;
    entries.push({ question, ids: [textOf(first(MEANINGS.id.names)) ?? []].flat(), answers });
  }
  return entries;
}
