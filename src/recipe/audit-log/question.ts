/** One row of a log read by a mapping: a question with its label and responses, or what is wrong with the row. */
import type { AuditQuestion } from '../../auditor.ts';
import type { Row } from '../../benchmark/load/rows.ts';
import type { Mapping, MeaningName } from './fields.ts';
import { valueAt } from './path.ts';
import { answersOf, type Extract, isBlank, isNotFinite, listOf, responseOf, textOf, yesNoOf } from './value.ts';

export interface LogQuestion extends AuditQuestion {
  /** Null: the log does not say. */
  readonly hops: number | null;
  /** Aliases of the label; `label` is the first. */
  readonly labels: readonly string[];
  /** Per response, where the log says so. */
  readonly said: readonly boolean[] | null;
  readonly references: readonly string[];
}

/** Where in the run a question was asked. */
export interface Place {
  readonly system: string;
  readonly round: string;
  readonly step: string;
}

export type RowRead =
  | { readonly question: LogQuestion; readonly place: Place; readonly id: string | null }
  | { readonly problem: string };

/** Names of a log without systems, rounds or steps. */
const ONE: Place = { system: 'log', round: '1', step: '1' };

export function readQuestion(row: Row, mapping: Mapping, extract: Extract): RowRead {
  const at = (name: MeaningName): unknown => (mapping[name] === undefined ? undefined : valueAt(row, mapping[name]));
  const wrong = (name: MeaningName, expected: string): { readonly problem: string } => {
    const value = at(name);
    const is = value === undefined ? 'is missing' : `is ${shown(value)}`;
    return { problem: `${mapping[name]?.text ?? name} ${is}; expected ${expected}` };
  };

  const text = textOf(at('question'))?.trim();
  if (!text) return wrong('question', 'the text of a question');
  const labels = answersOf(at('label'))?.filter((label) => label.trim() !== '') ?? [];
  if (labels.length === 0) return wrong('label', 'an answer, or a list of aliases');
  const references = isBlank(at('reference')) ? [] : answersOf(at('reference'));
  if (references === null) return wrong('reference', 'an answer, or a list of aliases');

  const single = mapping.responses === undefined;
  const given = single ? [at('response')] : listOf(at('responses'));
  const responses = given.map((value) => responseOf(value, extract));
  if (!responses.every((response) => response !== undefined))
    return wrong(single ? 'response' : 'responses', 'texts, or lists of messages {role, content}');
  if (responses.length === 0) return wrong('responses', 'at least one response');

  const said = saidOf(mapping.matches === undefined ? at('reward') : at('matches'));
  const matcher = mapping.matches === undefined ? 'reward' : 'matches';
  if (mapping[matcher] !== undefined && said?.length !== responses.length)
    return wrong(matcher, `0 or 1 for each of ${responses.length} responses`);
  const hops = isBlank(at('hops')) ? null : Number(at('hops'));
  if (hops !== null && !(Number.isInteger(hops) && hops > 0)) return wrong('hops', 'a whole number, at least 1');

  const unnamed = (['round', 'step'] as const).find((name) => isNotFinite(at(name)));
  if (unnamed !== undefined) return wrong(unnamed, 'a finite number or a name');
  const nameOf = (name: 'system' | 'round' | 'step'): string => textOf(at(name))?.trim() || ONE[name];
  const labelVerdict = yesNoOf(at('verdict'));
  const evidence = textOf(at('evidence'));
  return {
    question: {
      question: text,
      source: textOf(at('source'))?.trim() || text,
      label: labels[0]!,
      labels,
      responses,
      references,
      hops,
      said,
      ...(labelVerdict === null ? {} : { labelVerdict }),
      ...(evidence === null || evidence.trim() === '' ? {} : { evidence }),
    },
    place: { system: nameOf('system'), round: nameOf('round'), step: nameOf('step') },
    id: textOf(at('id')),
  };
}

function saidOf(value: unknown): readonly boolean[] | null {
  if (value === undefined) return null;
  const flags = listOf(value).map(yesNoOf);
  return flags.every((flag) => flag !== null) ? flags : null;
}

/** JSON has no word for a number that is none. */
const shown = (value: unknown): string =>
  typeof value === 'number' ? String(value) : (JSON.stringify(value, bigints) ?? '?').slice(0, 60);

/** Parquet has whole numbers that JSON has not. */
const bigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
