/** A log read into steps of questions. The order of its rows does not matter: steps and questions are put in one of their own. */
import { type Located, openRows } from '../../benchmark/load/rows.ts';
import { UserError } from '../../util/error.ts';
import { groupBy } from '../../util/group.ts';
import { type Mapping, settleMapping } from './fields.ts';
import { type LogQuestion, type Place, readQuestion } from './question.ts';
import type { Extract } from './value.ts';

export interface LogStep extends Place {
  readonly questions: readonly LogQuestion[];
}

export interface Log {
  readonly file: string;
  readonly mapping: Mapping;
  /** Systems, rounds and steps in the order of their names; numbers in them count as numbers. */
  readonly steps: readonly LogStep[];
  readonly rows: number;
  readonly skipped: number;
  /** The first of the skipped: "file:line: what is wrong". */
  readonly problems: readonly string[];
  /** Questions whose reference was joined from another file. */
  readonly joined: number;
}

export interface ReadLogOptions {
  readonly mapping: Mapping;
  readonly extract: Extract;
  /** A bad row ends the audit. */
  readonly strict: boolean;
  /** Right answers from elsewhere, by question text or id; null where there are none. */
  readonly references: ((question: string, id: string | null) => readonly string[] | null) | null;
  /** Something else than references decides. */
  readonly judged: boolean;
  /** Hears how many rows were read. */
  readonly progress?: (rows: number) => void;
}

/** Rows that are looked at to learn the names of the fields. */
const LOOKED_AT = 50;
const SHOWN_PROBLEMS = 20;

/** UserError: the file cannot be read, lacks a field, or holds no usable row; under `strict` also for a bad row. */
export async function readLog(file: string, options: ReadLogOptions): Promise<Log> {
  const { extract, strict, references, judged } = options;
  const withReference = references === null && !judged;
  let mapping: Mapping | null = null;
  let rows = 0;
  let skipped = 0;
  let joined = 0;
  const problems: string[] = [];
  const found: { readonly question: LogQuestion; readonly place: Place }[] = [];

  const skip = (problem: UserError): void => {
    if (strict) throw problem;
    rows++;
    skipped++;
    if (problems.length < SHOWN_PROBLEMS) problems.push(problem.message);
  };
  const take = ({ row, where }: Located, by: Mapping): void => {
    const read = readQuestion(row, by, extract);
    if ('problem' in read) {
      skip(new UserError(`${where}: ${read.problem}`));
      return;
    }
    rows++;
    const { question, place, id } = read;
    const other = question.references.length > 0 ? null : (references?.(question.question, id) ?? null);
    if (other !== null) joined++;
    found.push({ place, question: other === null ? question : { ...question, references: other } });
  };

  const held: Located[] = [];
  const settle = (): Mapping => {
    const settled = settleMapping(options.mapping, fieldsOf(held), { file, withReference });
    for (const located of held) take(located, settled);
    return settled;
  };
  for await (const located of (await openRows(file, [], skip)).rows) {
    if (mapping !== null) take(located, mapping);
    else if (held.push(located) === LOOKED_AT) mapping = settle();
    if (rows % 1000 === 0) options.progress?.(rows);
  }
  if (held.length === 0) {
    const example =
      problems[0] === undefined ? 'it is empty' : `none of ${rows} rows can be read, for example ${problems[0]}`;
    throw new UserError(`${file}: ${example}; expected rows with a question, a label and responses`);
  }
  mapping ??= settle();
  if (found.length === 0) throw new UserError(`${file}: none of ${rows} rows can be used, for example ${problems[0]}`);
  return { file, mapping, steps: stepsOf(found, mapping), rows, skipped, problems, joined };
}

const fieldsOf = (rows: readonly Located[]): string[] => [...new Set(rows.flatMap(({ row }) => Object.keys(row)))];

function stepsOf(found: readonly { question: LogQuestion; place: Place }[], mapping: Mapping): LogStep[] {
  const groups = groupBy(found, ({ place }) => JSON.stringify([place.system, place.round, place.step]));
  return [...groups.values()]
    .map((own) => {
      const questions = own.map(({ question }) => question);
      return {
        ...own[0]!.place,
        questions: ordered(mapping.responses === undefined ? merged(ordered(questions)) : questions),
      };
    })
    .sort((a, b) => byName(a.system, b.system) || byName(a.round, b.round) || byName(a.step, b.step));
}

/** Rows that hold one response each become one question with several. */
function merged(questions: readonly LogQuestion[]): LogQuestion[] {
  const groups = groupBy(questions, ({ question, source, labels }) => JSON.stringify([question, source, labels]));
  return [...groups.values()].map((own) => ({
    ...own[0]!,
    references: [...new Set(own.flatMap(({ references }) => references))].sort(),
    responses: own.flatMap(({ responses }) => responses),
    said: own.every(({ said }) => said !== null) ? own.flatMap(({ said }) => said!) : null,
  }));
}

/** The intervals are drawn over questions in this order. */
function ordered(questions: readonly LogQuestion[]): LogQuestion[] {
  return questions
    .map((question) => ({ question, key: JSON.stringify(question) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ question }) => question);
}

const collator = new Intl.Collator('en', { numeric: true });
export const byName = (a: string, b: string): number => collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
