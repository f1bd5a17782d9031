/** The audit by round: the systems side by side, and the tables. */
import { CELLS } from '../../method/agreement.ts';
import type { Interval } from '../../method/statistics.ts';
import type { Measure, ScopeAudit } from '../../recipe/audit/scope.ts';
import type { AuditReport, RoundAudit } from '../../recipe/audit.ts';
import { lineChart, type Series } from '../chart/lines.ts';
import { count, interval, share } from '../format.ts';
import { type Content, type Html, type HtmlColumn, html, htmlTable, symbol } from '../markup.ts';
import { distinctRounds, rowName } from '../summary.ts';
import { cell, inkOf, systemLegend } from './view.ts';

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
  const rounds = Array.from({ length: report.setup.rounds }, (_, r) => r + 1);
  const panels = PANELS.map(({ title, plain, figure, fromZero }) => {
    const series = report.setup.systems.map((system) => seriesOf(report, system, figure));
    return lineChart({
      title,
      describe: `${plain}. ${report.rounds.map((r) => `${r.system} round ${r.round}: ${interval(figure(r))}`).join('; ')}`,
      xName: 'round',
      x: [0.85, rounds.length + 0.15],
      xTicks: rounds.map((at) => ({ at, label: String(at) })),
      series: [...series, sharedDot(report, figure)],
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
const sharedDot = (report: AuditReport, figure: Figure): Series => ({
  name: '',
  ink: 'ink',
  points: report.rounds
    .filter(({ shared }) => shared)
    .slice(0, 1)
    .flatMap((r) => pointOf(r, figure)),
});

const MEASURE_COLUMNS: readonly (readonly [Measure, Content])[] = [
  ['TP', symbol('T_P')],
  ['TS', symbol('T_S')],
  ['A', symbol('A')],
  ['F', symbol('F')],
  ['L', symbol('L')],
  ['excess', html`${symbol('A')} − ${symbol('T_S')}`],
];

const numeric = (head: Content): HtmlColumn => ({ head, numeric: true });

const rowOf = (names: readonly Content[], { intervals, shares, coverage, questions }: ScopeAudit): Content[] => [
  ...names,
  ...MEASURE_COLUMNS.map(([measure]) => cell(intervals?.[measure])),
  ...(['C', 'D', 'N', 'X1', 'X2'] as const).map((mass) => share(shares?.[mass])),
  share(coverage),
  count(questions),
];

const columns = (names: readonly string[]): HtmlColumn[] => [
  ...names.map((head) => ({ head })),
  ...MEASURE_COLUMNS.map(([, head]) => numeric(head)),
  ...CELLS.filter((mass) => mass !== 'F' && mass !== 'L').map((mass) => numeric(symbol(mass))),
  numeric(html`${symbol('J')}/${symbol('E')}`),
  numeric('questions'),
];

export function roundTables(report: AuditReport): Html {
  const rounds = distinctRounds(report);
  const scheduled = rounds.map((round) => rowOf([rowName(round), round.round], round.scopes.scheduled));
  const parts = rounds.flatMap((round) => [
    ...(['proposer', 'solver'] as const).map((phase) =>
      rowOf([rowName(round), round.round, phase], round.scopes[phase]),
    ),
  ]);
  const auxiliary = report.rounds.flatMap((round) =>
    round.auxiliary === null ? [] : [rowOf([round.system, round.round, 'auxiliary'], round.auxiliary)],
  );
  const hops = rounds.flatMap((round) =>
    Object.entries(round.byHops).map(([h, scope]) => rowOf([rowName(round), round.round, h], scope)),
  );
  return html`<h3>Tables of the audit</h3>
${htmlTable(columns(['system', 'round']), scheduled, 'All scheduled steps: round means with 95 % intervals.')}
${htmlTable(columns(['system', 'round', 'steps']), [...parts, ...auxiliary], 'Proposer, solver and auxiliary steps apart. Auxiliaries influence nothing but the proposer’s reward.')}
${htmlTable(columns(['system', 'round', 'hops']), hops, 'Scheduled steps by the hop count of the question.')}`;
}
