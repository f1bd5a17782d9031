/** The exam on gold questions, and what each round admitted. */
import type { Interval } from '../../method/statistics.ts';
import type { BankAudit } from '../../recipe/audit/bank.ts';
import type { Comparison, DownstreamAudit } from '../../recipe/audit/downstream.ts';
import type { Measure } from '../../recipe/audit/scope.ts';
import type { AuditReport } from '../../recipe/audit.ts';
import { stackedBars } from '../chart/bars.ts';
import { lineChart } from '../chart/lines.ts';
import { count, DASH, pValue, share, signed } from '../format.ts';
import { type Content, type Html, type HtmlColumn, html, htmlTable, symbol } from '../markup.ts';
import { distinctRounds, rowName } from '../summary.ts';
import { cell, inkOf } from './view.ts';

const numeric = (head: Content): HtmlColumn => ({ head, numeric: true });

export function examSection(report: AuditReport): Html {
  const rows = [
    ...(report.base === null ? [] : [{ name: 'base policy', round: DASH, exam: report.base }]),
    ...distinctRounds(report).flatMap((r) =>
      r.downstream === null ? [] : [{ name: rowName(r), round: String(r.round), exam: r.downstream }],
    ),
  ];
  if (rows.length === 0) return html`<h2>Downstream</h2><p class="none">No exam was held yet.</p>`;
  const hopCounts = [...new Set(rows.flatMap(({ exam }) => Object.keys(exam.byHops)))].sort();
  const scores = rows.map(({ name, round, exam }) => scoreRow(name, round, exam));
  const hops = rows.map(({ name, round, exam }) => [
    name,
    round,
    ...hopCounts.map((h) => cell(exam.byHops[h]?.em)),
    ...hopCounts.map((h) => share(exam.byHops[h]?.coverEm.point)),
  ]);
  return html`<h2>Downstream</h2>
<p>Greedy answers to held-out gold questions. Intervals of shares are Wilson’s; differences are paired, with a bootstrap over questions and McNemar’s exact test.
Questions lost to an outage are left out.</p>
${htmlTable(
  [
    { head: 'policy' },
    numeric('round'),
    ...['n', 'EM', 'EM − base', 'McNemar', 'Cover-EM', 'Cover-EM − base', 'searches', 'no answer', 'lost'].map(numeric),
  ],
  scores,
  'Exact match (EM) and cover match of the solver after each round.',
)}
${htmlTable(
  [
    { head: 'policy' },
    numeric('round'),
    ...hopCounts.map((h) => numeric(`EM, ${h} hop${h === '1' ? '' : 's'}`)),
    ...hopCounts.map((h) => numeric(`cover, ${h}`)),
  ],
  hops,
  'By hop count.',
)}
${contrastTable(report)}`;
}

const scoreRow = (name: string, round: string, exam: DownstreamAudit): Content[] => [
  name,
  round,
  count(exam.all?.n ?? 0),
  cell(exam.all?.em),
  cell(exam.againstBase?.em, signed),
  exam.againstBase === null ? DASH : mcnemarCell(exam.againstBase.mcnemarEm),
  cell(exam.all?.coverEm),
  cell(exam.againstBase?.coverEm, signed),
  exam.searches.toFixed(2),
  count(exam.unanswered),
  count(exam.failed),
];

/** Questions that only the second got right, and only the first, with the p value. */
const mcnemarCell = ({ onlyA, onlyB, p }: Comparison['mcnemarEm']): Content =>
  html`${pValue(p)} <small>(+${onlyB}, −${onlyA})</small>`;

function contrastTable({ contrasts }: AuditReport): Html | null {
  if (contrasts.length === 0) return null;
  const tables = contrasts.map(({ a, b, round, proposer, scheduled, downstream }) => [
    htmlTable(
      [{ head: '' }, numeric('proposer steps'), numeric('all steps')],
      (['F', 'TP', 'TS', 'A', 'L', 'excess'] as const).map((measure) => [
        MEASURE_NAMES[measure],
        cell(proposer?.[measure], signed),
        cell(scheduled?.[measure], signed),
      ]),
      `${b} − ${a}, round ${round}: audit.`,
    ),
    downstream === null
      ? null
      : htmlTable(
          [{ head: '' }, numeric('difference'), numeric('McNemar')],
          [
            ['EM', cell(downstream.em, signed), mcnemarCell(downstream.mcnemarEm)],
            ['Cover-EM', cell(downstream.coverEm, signed), mcnemarCell(downstream.mcnemarCoverEm)],
          ],
          `${b} − ${a}, round ${round}: exam.`,
        ),
  ]);
  return html`<h3>System against system</h3>
<p>Sources are resampled for both systems together, exam questions in pairs. This is one seed: the spread between runs is not in these intervals.</p>
<div class="row two">${tables}</div>`;
}

const MEASURE_NAMES: Readonly<Record<Measure, Content>> = {
  F: symbol('F'),
  TP: symbol('T_P'),
  TS: symbol('T_S'),
  A: symbol('A'),
  L: symbol('L'),
  excess: html`${symbol('A')} − ${symbol('T_S')}`,
};

function bankChart(
  report: AuditReport,
  title: Content,
  plain: string,
  figure: (bank: BankAudit) => Interval | null,
): Html {
  const rounds = Array.from({ length: report.setup.rounds }, (_, r) => r + 1);
  return lineChart({
    title,
    describe: `${plain} in the bank of each round, by system`,
    xName: 'round',
    x: [0.85, rounds.length + 0.15],
    xTicks: rounds.map((at) => ({ at, label: String(at) })),
    series: report.setup.systems.map((system) => ({
      name: system,
      ink: inkOf(report, system),
      points: report.rounds.flatMap((round) => {
        const found = round.system !== system || round.bank === null ? null : figure(round.bank);
        if (found === null) return [];
        const { point: y, low, high } = found;
        return [{ x: round.round, y, low, high, note: `${system}, round ${round.round}: ${share(y)}` }];
      }),
    })),
  });
}

export function bankSection(report: AuditReport): Html {
  const rounds = distinctRounds(report).flatMap(({ bank, ...round }) =>
    bank === null ? [] : [{ name: rowName({ bank, ...round }), round: round.round, bank }],
  );
  if (rounds.length === 0) return html`<h2>Admitted questions</h2><p class="none">Nothing was written yet.</p>`;
  const hopCounts = [...new Set(rounds.flatMap(({ bank }) => Object.keys(bank.byHops)))].sort();
  const rows = rounds.map(({ name, round, bank }) => [
    name,
    round,
    count(bank.admitted),
    count(bank.distinct),
    count(bank.sources),
    cell(bank.TP),
    ...hopCounts.map((h) => share(bank.byHops[h]?.TP?.point)),
    share(bank.admitted === 0 ? null : bank.judged / bank.admitted),
    count(bank.tried),
    Object.entries(bank.refused)
      .map(([reason, n]) => `${reason.replaceAll('_', ' ')} ${n}`)
      .join(', ') || DASH,
  ]);
  return html`<h2>Admitted questions</h2>
<div class="row">${stackedBars({
    title: 'Hop mix of the banks',
    describe: 'Share of one to four hop questions in each bank',
    parts: hopCounts.map((h) => `${h} hop${h === '1' ? '' : 's'}`),
    bars: rounds.map(({ name, round, bank }) => ({
      name: `${name} ${round}`,
      values: hopCounts.map((h) => bank.byHops[h]?.admitted ?? 0),
    })),
  })}${bankChart(report, html`Correct labels in the bank, ${symbol('T_P')}`, 'correct labels', ({ TP }) => TP)}${bankChart(
    report,
    'Distinct questions, share of the bank',
    'distinct questions',
    ({ distinct, admitted }) =>
      admitted === 0 ? null : { point: distinct / admitted, low: distinct / admitted, high: distinct / admitted },
  )}</div>
${htmlTable(
  [
    { head: 'system' },
    ...['round', 'admitted', 'distinct', 'sources', symbol('T_P')].map(numeric),
    ...hopCounts.map((h) => numeric(html`${symbol('T_P')}, ${h}`)),
    numeric('judged'),
    numeric('tried'),
    { head: 'refused' },
  ],
  rows,
  'The bank of each round, which the solver then trains on: truth of its labels, in all and by hops.',
)}`;
}
