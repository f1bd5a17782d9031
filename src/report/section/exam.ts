/** The exam on gold questions. */
import type { Comparison, DownstreamAudit } from '../../recipe/audit/downstream.ts';
import type { AuditReport } from '../../recipe/audit.ts';
import { count, DASH, pValue, share, signed } from '../format.ts';
import { type Content, type Html, html, htmlTable, numeric } from '../markup.ts';
import { distinctRounds, rowName } from '../summary.ts';
import { cell, MEASURE_NAMES } from './view.ts';

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
