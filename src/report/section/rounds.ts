/** The audit by round: the systems side by side, and the tables. */
import { CELLS } from '../../method/agreement.ts';
import type { Interval } from '../../method/statistics.ts';
import { MEASURES, type Measure, type ScopeAudit } from '../../recipe/audit/scope.ts';
import type { AuditReport, RoundAudit } from '../../recipe/audit.ts';
import { leadsShared } from '../../recipe/systems.ts';
import { lineChart, type Series } from '../chart/lines.ts';
import { count, interval, share } from '../format.ts';
import { type Content, type Html, type HtmlColumn, html, htmlTable, numeric, symbol } from '../markup.ts';
import { distinctRounds, rowName } from '../summary.ts';
import { cell, inkOf, MEASURE_NAMES, roundAxis, systemLegend } from './view.ts';

type Figure = (round: RoundAudit) => Interval | null | undefined;

const measured =
  (scope: 'scheduled' | 'proposer' | 'solver', measure: Measure): Figure =>
  ({ scopes }) =>
    scopes[scope].intervals?.[measure];

const PANELS: readonly { title: Content; plain: string; figure: Figure; fromZero?: boolean }[] = [
  {
    title: html`False agreement in proposer steps, ${symbol('F')}`,
    plain: 'False agreement in proposer steps',
    figure: measured('proposer', 'F'),
    fromZero: true,
  },
  {
    title: html`Correct labels in proposer steps, ${symbol('T_P')}`,
    plain: 'Correct labels in proposer steps',
    figure: measured('proposer', 'TP'),
  },
  {
    title: html`Downstream exact match`,
    plain: 'Downstream exact match',
    figure: (round) => round.downstream?.all?.em,
  },
  {
    title: html`False agreement in all steps, ${symbol('F')}`,
    plain: 'False agreement in all steps',
    figure: measured('scheduled', 'F'),
    fromZero: true,
  },
  {
    title: html`Agreement in all steps, ${symbol('A')}`,
    plain: 'Agreement in all steps',
    figure: measured('scheduled', 'A'),
  },
  {
    title: html`Excess agreement, ${symbol('A')} − ${symbol('T_S')}`,
    plain: 'Agreement minus accuracy of responses, all steps',
    figure: measured('scheduled', 'excess'),
    fromZero: true,
  },
];

export function roundFigures(report: AuditReport): Html {
  const panels = PANELS.map(({ title, plain, figure, fromZero }) => {
    const series = report.setup.systems.map((system) => seriesOf(report, system, figure));
    return lineChart({
      title,
      describe: `${plain}. ${report.rounds.map((r) => `${r.system} round ${r.round}: ${interval(figure(r))}`).join('; ')}`,
      ...roundAxis(report),
      series: [...series, ...sharedDots(report, figure)],
      ...(fromZero ? { fromZero } : {}),
    });
  });
  return html`<h2>The systems by round</h2>
<p>Means over the steps of a round; bands are 95 % intervals (bootstrap over sources; Wilson for the exam). Solver steps are graded on their own
training data and memorise under every plan, so proposer steps are shown apart.</p>
${systemLegend(report)}<div class="row">${panels}</div>`;
}

const pointOf = (round: RoundAudit, figure: Figure) => {
  const found = figure(round);
  if (!found) return [];
  const { point: y, low, high } = found;
  return [{ x: round.round, y, low, high, note: `${rowName(round)}, round ${round.round}: ${interval(found)}` }];
};

const seriesOf = (report: AuditReport, system: string, figure: Figure): Series => ({
  name: system,
  ink: inkOf(report, system),
  points: report.rounds.filter((r) => r.system === system).flatMap((r) => pointOf(r, figure)),
});

/** Drawn over the systems' own first points. */
const sharedDots = (report: AuditReport, figure: Figure): Series[] =>
  report.rounds
    .filter(({ shared, system }) => shared && leadsShared(report.setup.systems, system))
    .map((r) => ({ name: '', ink: 'ink', points: pointOf(r, figure) }));

const rowOf = (names: readonly Content[], { intervals, coverage, questions }: ScopeAudit): Content[] => [
  ...names,
  ...MEASURES.map((measure) => cell(intervals?.[measure])),
  share(coverage),
  count(questions),
];

const massRow = (names: readonly Content[], { shares, evaluated, judged }: ScopeAudit): Content[] => [
  ...names,
  ...CELLS.map((mass) => share(shares?.[mass])),
  count(judged),
  count(evaluated),
];

const columns = (names: readonly string[]): HtmlColumn[] => [
  ...names.map((head) => ({ head })),
  ...MEASURES.map((measure) => numeric(MEASURE_NAMES[measure])),
  numeric(html`${symbol('J')}/${symbol('E')}`),
  numeric('questions'),
];

const massColumns = (names: readonly string[]): HtmlColumn[] => [
  ...names.map((head) => ({ head })),
  ...CELLS.map((mass) => numeric(symbol(mass))),
  numeric(symbol('J')),
  numeric(symbol('E')),
];

type Row = readonly [names: readonly Content[], scope: ScopeAudit];

export function roundTables(report: AuditReport): Html {
  const rounds = distinctRounds(report);
  const scheduled = rounds.map((round): Row => [[rowName(round), round.round], round.scopes.scheduled]);
  const parts = rounds.flatMap((round) =>
    (['proposer', 'solver'] as const).map((phase): Row => [[rowName(round), round.round, phase], round.scopes[phase]]),
  );
  const auxiliary = report.rounds.flatMap((round): Row[] =>
    round.auxiliary === null ? [] : [[[round.system, round.round, 'auxiliary'], round.auxiliary]],
  );
  const hops = rounds.flatMap((round) =>
    Object.entries(round.byHops).map(([h, scope]): Row => [[rowName(round), round.round, h], scope]),
  );
  const bySteps = [...parts, ...auxiliary];
  return html`<h3>Tables of the audit</h3>
${htmlTable(
  columns(['system', 'round']),
  scheduled.map((row) => rowOf(...row)),
  'All scheduled steps: round means with 95 % intervals.',
)}
${htmlTable(
  columns(['system', 'round', 'steps']),
  bySteps.map((row) => rowOf(...row)),
  'Proposer, solver and auxiliary steps apart. Auxiliaries influence nothing but the proposer’s reward.',
)}
${htmlTable(
  massColumns(['system', 'round', 'steps']),
  [...scheduled.map(([names, scope]): Row => [[...names, 'all'], scope]), ...bySteps].map((row) => massRow(...row)),
  html`The seven masses: ${symbol('C')} correct agreement, ${symbol('F')} false agreement, ${symbol('L')} lost credit, ${symbol('D')} ordinary miss, ${symbol('N')} both wrong; ${symbol('X1')} and ${symbol('X2')} inconsistent. ${symbol('J')} of ${symbol('E')} pairs judged.`,
)}
<details><summary>Scheduled steps by hop count</summary>
${htmlTable(
  columns(['system', 'round', 'hops']),
  hops.map((row) => rowOf(...row)),
  'Scheduled steps by the hop count of the question.',
)}</details>`;
}
