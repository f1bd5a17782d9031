/** The tables of a log's audit, once for all forms: text, Markdown and HTML are renderings of these rows. */
import { CELLS } from '../../method/agreement.ts';
import { MEASURES, type Measure, type ScopeAudit } from '../../recipe/audit/scope.ts';
import type { LogAudit, SystemAudit } from '../../recipe/audit-log/audit.ts';
import { count, DASH, interval, share } from '../format.ts';

export interface LogTable {
  readonly title: string;
  /** Symbols as in T_P. */
  readonly head: readonly string[];
  /** Columns from here on are numbers. */
  readonly numbersFrom: number;
  /** Cells of untrusted text; every row as long as the head. */
  readonly rows: readonly (readonly string[])[];
}

const MEASURE_HEADS: Readonly<Record<Measure, string>> = {
  TP: 'T_P',
  TS: 'T_S',
  A: 'A',
  F: 'F',
  L: 'L',
  excess: 'A − T_S',
};

interface NamedScope {
  readonly names: readonly string[];
  readonly scope: ScopeAudit;
}

const massRow = ({ names, scope: { shares, coverage, judged, evaluated } }: NamedScope): string[] => [
  ...names,
  ...CELLS.map((mass) => share(shares?.[mass])),
  ...[shares?.TP, shares?.TS, shares?.A, coverage].map((x) => share(x)),
  count(judged),
  count(evaluated),
];

const masses = (title: string, names: readonly string[], scopes: readonly NamedScope[]): LogTable => ({
  title,
  head: [...names, ...CELLS, 'T_P', 'T_S', 'A', 'J/E', 'J', 'E'],
  numbersFrom: names.length,
  rows: scopes.map(massRow),
});

const intervals = (title: string, names: readonly string[], scopes: readonly NamedScope[]): LogTable => ({
  title,
  head: [...names, ...MEASURES.map((measure) => MEASURE_HEADS[measure])],
  numbersFrom: names.length,
  rows: scopes.map(({ names: own, scope }) => [...own, ...MEASURES.map((m) => interval(scope.intervals?.[m]))]),
});

/** Those without a row are left out. */
export function tablesOf({ systems, mapping }: LogAudit): LogTable[] {
  const many = systems.length > 1;
  const heads = (...names: string[]): string[] => [...(many ? ['system'] : []), ...names];
  const of = (rows: (system: SystemAudit) => readonly NamedScope[]): NamedScope[] =>
    systems.flatMap((system) =>
      rows(system).map(({ names, scope }) => ({ names: [...(many ? [system.system] : []), ...names], scope })),
    );
  const rounds = of(({ rounds: own, all }) => [
    ...own.map(({ round, scope }) => ({ names: [round], scope })),
    ...(own.length > 1 ? [{ names: ['all'], scope: all }] : []),
  ]);
  // A round of one step is that step.
  const steps = of(({ rounds: own }) =>
    own
      .filter((round) => round.steps.length > 1)
      .flatMap(({ round, steps: each }) => each.map(({ step, scope }) => ({ names: [round, step], scope }))),
  );
  const hops = of(({ byHops }) => byHops.map(({ hops: h, scope }) => ({ names: [String(h)], scope })));
  // Without sources each question is its own, and has its own table.
  const sources = of(({ bySource }) =>
    mapping.source === undefined
      ? []
      : bySource.map(({ source, falsePairs, scope }) => ({ names: [source, count(falsePairs)], scope })),
  );
  return [
    masses('By round: unweighted means of the steps', heads('round'), rounds),
    intervals('95 % intervals, clustered by source', heads('round'), rounds),
    masses('By step', heads('round', 'step'), steps),
    intervals('By step, 95 % intervals', heads('round', 'step'), steps),
    masses('By hop count: unweighted means of the steps', heads('hops'), hops),
    intervals('By hop count, 95 % intervals', heads('hops'), hops),
    masses(
      'Sources with the most false agreements: unweighted means of the steps',
      heads('source', 'pairs in F'),
      sources,
    ),
  ].filter(({ rows }) => rows.length > 0);
}

const SHOWN_QUESTIONS = 15;

/** The questions that carry most of F. */
export function questionTable({ falseAgreements, systems }: LogAudit): LogTable {
  const many = systems.length > 1;
  return {
    title: `Questions that carry most of F (${count(falseAgreements.length)} in all)`,
    head: ['question', 'label', 'reference', ...(many ? ['system'] : []), 'agreeing', 'steps'],
    numbersFrom: many ? 4 : 3,
    rows: falseAgreements
      .slice(0, SHOWN_QUESTIONS)
      .map(({ question, label, reference, system, agreeing, responses, times }) => [
        ...[question, label, reference || DASH, ...(many ? [system] : [])],
        ...[`${agreeing}/${responses}`, count(times)],
      ]),
  };
}
