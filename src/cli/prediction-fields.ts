/** Which fields of a predictions file hold what: as the flags say, or by their usual names. */

import type { Metrics } from '../benchmark/invariant.ts';
import { openRows, type Rows } from '../benchmark/load/rows.ts';
import type { PredictionRow } from '../benchmark/predictions.ts';
import { setNamed } from '../benchmark/seven.ts';
import { type Path, parsePath, valueAt } from '../recipe/audit-log/path.ts';
import { type Extract, isBlank, responseOf, textOf, yesNoOf } from '../recipe/audit-log/value.ts';
import { UserError } from '../util/error.ts';
import { nearest } from '../util/suggest.ts';

export interface FieldFlags {
  readonly idField?: string;
  readonly questionField?: string;
  readonly predictionField?: string;
  readonly goldField?: string;
  readonly setField?: string;
  readonly verdictField?: string;
  readonly extract: Extract;
}

/** Where files keep metrics of their own. */
const METRIC_FIELDS = {
  em: ['em', 'EM', 'exact_match', 'metrics.em', 'metric_score.em', 'output.metric_score.em'],
  coverEm: ['cover_em', 'coverEm', 'metrics.cover_em'],
  f1: ['f1', 'F1', 'metrics.f1', 'metric_score.f1', 'output.metric_score.f1'],
} as const satisfies Record<keyof Metrics, readonly string[]>;

interface Field {
  readonly flag: string;
  readonly paths: readonly Path[];
  /** A file without it is refused. */
  readonly needed: boolean;
  /** A row had it. */
  found: boolean;
}

export interface Predictions extends Pick<Rows, 'container' | 'share'> {
  readonly rows: AsyncGenerator<PredictionRow>;
}

/** @param joined gold comes from elsewhere. Throws UserError at the end when no row has a field that is needed. */
export async function readPredictions(
  file: string,
  flags: FieldFlags,
  joined: boolean,
  without: readonly string[],
): Promise<Predictions> {
  const fieldOf = (flag: string, given: string | undefined, usual: readonly string[], needed: boolean): Field => ({
    flag,
    paths: (given === undefined ? usual : [given]).map(parsePath),
    needed: needed || given !== undefined,
    found: false,
  });
  const fields = {
    id: fieldOf('--id-field', flags.idField, ['id'], false),
    question: fieldOf('--question-field', flags.questionField, ['question'], false),
    set: fieldOf('--set-field', flags.setField, ['set', 'dataset'], false),
    gold: fieldOf('--gold-field', flags.goldField, ['golden_answers'], !joined),
    prediction: fieldOf('--prediction-field', flags.predictionField, ['prediction'], true),
    verdict: fieldOf('--verdict-field', flags.verdictField, [], false),
  };
  const metricPaths = Object.entries(METRIC_FIELDS).map(([name, paths]) => [name, paths.map(parsePath)] as const);
  const wanted = Object.values(fields).flatMap(({ paths }) => paths.map(({ text }) => text.split(/[.[]/)[0]));
  const { container, rows, share } = await openRows(
    file,
    without.filter((name) => !wanted.includes(name)),
  );
  return { container, share, rows: read() };

  async function* read(): AsyncGenerator<PredictionRow> {
    const names = new Set<string>();
    for await (const { row, where } of rows) {
      for (const name of Object.keys(row)) names.add(name);
      const take = (field: Field): unknown => {
        const value = field.paths.map((path) => valueAt(row, path)).find((found) => found !== undefined);
        if (value !== undefined) field.found = true;
        return value;
      };
      const given = take(fields.prediction);
      const prediction = responseOf(given, flags.extract);
      if (prediction === undefined)
        throw new UserError(`${where}: the prediction is ${JSON.stringify(given)?.slice(0, 80)}; expected a text`);
      const set = optional(take(fields.set));
      const verdict = take(fields.verdict);
      yield {
        where,
        id: optional(take(fields.id)),
        question: optional(take(fields.question)),
        set: set === undefined ? undefined : (setNamed(set)?.name ?? set),
        gold: take(fields.gold),
        prediction,
        metrics: Object.fromEntries(
          metricPaths.map(([name, paths]) => [name, numberOf(paths.map((path) => valueAt(row, path)))]),
        ),
        verdict: verdict === undefined ? undefined : yesNoOf(verdict),
      };
    }
    for (const field of Object.values(fields)) if (field.needed && !field.found) refuse(file, field, [...names]);
  }
}

const optional = (value: unknown): string | undefined => (isBlank(value) ? undefined : (textOf(value) ?? undefined));

/** The first number among them; true is 1. */
function numberOf(values: readonly unknown[]): number | undefined {
  const text = textOf(values.find((found) => !isBlank(found)))?.trim();
  if (text === undefined) return undefined;
  const number = /^(true|false)$/i.test(text) ? Number(/^t/i.test(text)) : Number(text);
  return Number.isNaN(number) ? undefined : number;
}

function refuse(file: string, { flag, paths }: Field, names: readonly string[]): never {
  const path = paths[0]!.text;
  const close = nearest(path, names);
  const hint = close === null ? '' : ` (did you mean ${close}?)`;
  throw new UserError(
    `${file}: no row has the field "${path}"${hint}. Its fields: ${names.slice(0, 40).join(', ')}. Name one with ${flag}.`,
  );
}
