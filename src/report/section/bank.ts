/** What each round admitted. */
import type { Interval } from '../../method/statistics.ts';
import type { BankAudit } from '../../recipe/audit/bank.ts';
import type { AuditReport } from '../../recipe/audit.ts';
import { stackedBars } from '../chart/bars.ts';
import { lineChart } from '../chart/lines.ts';
import { count, DASH, share } from '../format.ts';
import { type Content, type Html, html, htmlTable, numeric, symbol } from '../markup.ts';
import { distinctRounds, rowName } from '../summary.ts';
import { cell, inkOf, roundAxis } from './view.ts';

function bankChart(
  report: AuditReport,
  title: Content,
  plain: string,
  figure: (bank: BankAudit) => Interval | null,
): Html {
  return lineChart({
    title,
    describe: `${plain} in the bank of each round, by system`,
    ...roundAxis(report),
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
