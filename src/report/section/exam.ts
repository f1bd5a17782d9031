/** The exam on gold questions, and what each round admitted. */
import type { Comparison, DownstreamAudit } from '../../recipe/audit/downstream.ts';
import type { AuditReport } from '../../recipe/audit.ts';
import { stackedBars } from '../chart/bars.ts';
import { count, DASH, pValue, share, signed } from '../format.ts';
import { type Content, type Html, type HtmlColumn, html, htmlTable, symbol } from '../markup.ts';
import { distinctRounds, rowName } from '../summary.ts';
import { cell } from './view.ts';

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
    ...[
      'n',
      'EM',
      'EM − base',
      'McNemar',
      'Cover-EM',
      'Cover-EM − base',
      'McNemar',
      'searches',
      'no answer',
      'lost',
    ].map(numeric),
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
  exam.againstBase === null ? DASH : mcnemarCell(exam.againstBase.mcnemarCoverEm),
  exam.searches.toFixed(2),
  count(exam.unanswered),
  count(exam.failed),
];

/** Questions that only the second got right, and only the first, with the p value. */
const mcnemarCell = ({ onlyA, onlyB, p }: Comparison['mcnemarEm']): Content =>
  html`${pValue(p)} <small>(+${onlyB}, −${onlyA})</small>`;

function contrastTable({ contrasts }: AuditReport): Html | null {
  if (contrasts.length === 0) return null;
  const rows = contrasts.map(({ a, b, round, proposer, scheduled, downstream }) => [
    `${b} − ${a}`,
    round,
    cell(proposer?.F, signed),
    cell(proposer?.TP, signed),
    cell(scheduled?.F, signed),
    cell(scheduled?.TP, signed),
    cell(downstream?.em, signed),
    downstream ? mcnemarCell(downstream.mcnemarEm) : DASH,
    cell(downstream?.coverEm, signed),
  ]);
  const heads = [
    html`${symbol('F')}, proposer`,
    html`${symbol('T_P')}, proposer`,
    html`${symbol('F')}, all`,
    html`${symbol('T_P')}, all`,
    'EM',
    'McNemar',
    'Cover-EM',
  ];
  return html`<h3>System against system</h3>
${htmlTable([{ head: 'difference' }, numeric('round'), ...heads.map(numeric)], rows, 'Last common round. Audit: sources resampled for both systems together; one seed, so the spread between runs is not in these intervals.')}`;
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
  })}</div>
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
