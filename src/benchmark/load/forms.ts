/**
 * The forms in which the seven sets are published, as rows: how a form is known by its fields, and where it keeps question,
 * gold and id. The first form whose fields are all there is the one.
 */
import type { Row } from './rows.ts';

export interface Form {
  readonly name: string;
  readonly about: string;
  readonly is: (row: Row) => boolean;
  /** Names of the fields, the first present counts. */
  readonly question: readonly string[];
  readonly id: readonly string[];
  /** Gold as the file gives it: anything else than `goldIs` is warned about. */
  readonly gold: (row: Row) => unknown;
  readonly goldIs: 'list' | 'text' | 'json-text';
  /** Small fields that go to the metadata. */
  readonly keep: readonly string[];
}

const asObject = (value: unknown): Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const fieldOf = (row: Row, names: readonly string[]): unknown => {
  const name = names.find((key) => row[key] !== undefined && row[key] !== null);
  return name === undefined ? undefined : row[name];
};

const has = (row: Row, ...names: readonly string[]): boolean => names.every((name) => row[name] !== undefined);

const question = ['question', 'Question'];
const id = ['id', '_id', 'question_id', 'QuestionId', 'idx'];

/** TriviaQA's answer object, in the spelling of its JSON or of its Parquet. */
function triviaGold(row: Row): readonly unknown[] {
  const answer = asObject(fieldOf(row, ['Answer', 'answer']));
  const value = fieldOf(answer, ['Value', 'value']);
  const aliases = asList(fieldOf(answer, ['Aliases', 'aliases']));
  const people = asList(fieldOf(answer, ['HumanAnswers', 'human_answers']));
  return [...(value === undefined || value === '<unk>' ? [] : [value]), ...aliases, ...people];
}

export const FORMS: readonly Form[] = [
  {
    name: 'flashrag',
    about: 'FlashRAG: {id, question, golden_answers: [..], metadata}; also the manifest of Crossfold',
    is: (row) => has(row, 'question', 'golden_answers'),
    question,
    id,
    gold: (row) => row.golden_answers,
    goldIs: 'list',
    keep: [],
  },
  {
    name: 'triviaqa',
    about: 'TriviaQA: {QuestionId, Question, Answer: {Value, Aliases}}, in "Data" or as Parquet columns',
    is: (row) =>
      ['Answer', 'answer'].some((key) => has(asObject(row[key]), 'Aliases') || has(asObject(row[key]), 'aliases')),
    question,
    id,
    gold: triviaGold,
    goldIs: 'list',
    keep: [],
  },
  {
    name: 'popqa',
    about: 'PopQA: columns subj, prop, obj, question, possible_answers with a JSON list in the cell',
    is: (row) => has(row, 'question', 'possible_answers'),
    question,
    id,
    gold: (row) => row.possible_answers,
    goldIs: 'json-text',
    keep: ['subj', 'prop', 'obj', 's_pop', 'o_pop'],
  },
  {
    name: 'musique',
    about: 'MuSiQue: {id, paragraphs, question, answer, answer_aliases, answerable}',
    is: (row) => has(row, 'question', 'answer', 'answer_aliases'),
    question,
    id,
    gold: (row) => (row.answer === null ? [] : [row.answer, ...asList(row.answer_aliases)]),
    goldIs: 'list',
    keep: ['answerable'],
  },
  {
    name: '2wikimultihopqa',
    about: '2WikiMultiHopQA: {_id, type, question, context, supporting_facts, evidences, answer}',
    is: (row) => has(row, 'question', 'answer', 'evidences'),
    question,
    id,
    gold: (row) => row.answer,
    goldIs: 'text',
    keep: ['type', 'answer_id'],
  },
  {
    name: 'hotpotqa',
    about: 'HotpotQA: {_id, question, answer, supporting_facts, context, type, level}, simplified ones too',
    is: (row) => has(row, 'question', 'answer', 'type') && typeof row.answer === 'string',
    question,
    id,
    gold: (row) => row.answer,
    goldIs: 'text',
    keep: ['type', 'level'],
  },
  {
    name: 'nq_open',
    about: 'NQ-open: {question, answer: [..]}; Bamboogle and HippoRAG give the same fields in other words',
    is: (row) => Array.isArray(fieldOf(row, ['answer', 'Answer', 'answers'])) && fieldOf(row, question) !== undefined,
    question,
    id,
    gold: (row) => fieldOf(row, ['answer', 'Answer', 'answers']),
    goldIs: 'list',
    keep: [],
  },
  {
    name: 'question-answer',
    about: 'Bamboogle: columns Question, Answer, or {question, answer}, with one answer as text',
    is: (row) =>
      typeof fieldOf(row, ['answer', 'Answer', 'answers']) === 'string' && fieldOf(row, question) !== undefined,
    question,
    id,
    gold: (row) => fieldOf(row, ['answer', 'Answer', 'answers']),
    goldIs: 'text',
    keep: [],
  },
];

/** Columns that hold whole passages, of no use to an exam. */
export const PASSAGE_COLUMNS = ['context', 'paragraphs', 'search_results', 'entity_pages', 'evidences_id'];
