/** The summary of a run for a terminal, and the audit as a JSON object for programs. */
import picocolors from 'picocolors';
import type { Comparison, DownstreamAudit } from '../recipe/audit/downstream.ts';
import type { AuditReport, Contrast, RoundAudit } from '../recipe/audit.ts';
import { leadsShared, sharedOf } from '../recipe/systems.ts';
import { count, interval, pValue, share, signed } from './format.ts';
import { left, right, table } from './table.ts';
import { visible } from './visible.ts';
import { caveats, healthLine, NO_WARNING, SYMBOLS, warningSentences } from './words.ts';

export interface SummaryOptions {
  /** Default: no colour. */
  readonly colours?: ReturnType<typeof picocolors.createColors>;
  /** Where the HTML report was written. */
  readonly html?: string;
}

/** Shared rounds once, then every system's own. */
export const distinctRounds = ({ rounds, setup }: Pick<AuditReport, 'rounds' | 'setup'>): RoundAudit[] =>
  rounds.filter(({ shared, system }) => !shared || leadsShared(setup.systems, system));

/** Label of a round's row. */
export const rowName = ({ shared, system }: RoundAudit): string => (shared ? sharedOf(system) : system);

export function summaryText(report: AuditReport, { colours, html }: SummaryOptions = {}): string {
  const c = colours ?? picocolors.createColors(false);
  const { setup, recipe, seed, auditor } = report;
  const title = visible(
    `${recipe} of ${setup.systems.join(', ')} in ${setup.task}, seed ${seed}, audited by ${auditor}`,
  );
  const printed = (lines: readonly string[]): string[] => lines.map((line, i) => (i === 0 ? c.dim(line) : line));
  const warnings = warningSentences(report);
  const sections = [
    [c.bold(title)],
    printed(auditTable(report)),
    SYMBOLS.map(([symbol, meaning]) => c.dim(`${symbol.padEnd(4)} ${meaning}`)),
    printed(examTable(report)),
    report.contrasts.flatMap(contrastLines),
    warnings.length === 0 ? [c.green(NO_WARNING)] : warnings.map((w) => c.yellow(`! ${w}`)),
    report.health.map((found) => c.yellow(`! ${visible(healthLine(found))}`)),
    caveats(report).map((line) => c.dim(line)),
    html === undefined ? [] : [`Report: ${visible(html)}`],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function auditTable(report: AuditReport): string[] {
  const columns = [left('system'), right('round'), ...['T_P', 'T_S', 'A', 'F', 'L', 'J/E'].map(right)];
  const rows = distinctRounds(report).map((round) => {
    const { shares, coverage } = round.scopes.scheduled;
    const masses = [shares?.TP, shares?.TS, shares?.A, shares?.F, shares?.L, coverage].map((x) => share(x));
    return [rowName(round), String(round.round), ...masses, interval(round.scopes.proposer.intervals?.F)];
  });
  return table([...columns, right('F of proposer steps')], rows);
}

function examTable(report: AuditReport): string[] {
  const rows = [
    ...(report.base === null ? [] : [examRow('base', 0, report.base)]),
    ...distinctRounds(report).flatMap((round) =>
      round.downstream === null ? [] : [examRow(rowName(round), round.round, round.downstream)],
    ),
  ];
  if (rows.length === 0) return [];
  return table(
    [left('downstream'), right('round'), right('n'), right('EM'), right('EM − base'), right('Cover-EM')],
    rows,
  );
}

function examRow(system: string, round: number, { all, againstBase }: DownstreamAudit): string[] {
  const difference = interval(againstBase?.em, signed);
  return [system, String(round), count(all?.n ?? 0), interval(all?.em), difference, share(all?.coverEm.point)];
}

function contrastLines({ a, b, round, proposer, downstream }: Contrast): string[] {
  const figures = [
    ...(proposer === null
      ? []
      : [
          `F of proposer steps ${interval(proposer.F, signed)}`,
          `T_P of proposer steps ${interval(proposer.TP, signed)}`,
        ]),
    ...(downstream === null ? [] : [examContrast(downstream)]),
  ];
  return [`${b} − ${a}, round ${round}:`, ...figures.map((figure) => `  ${figure}`)];
}

const examContrast = ({ em, mcnemarEm }: Comparison): string =>
  `EM ${interval(em, signed)}, McNemar ${pValue(mcnemarEm.p)}`;

/** The audit without the verdict on every single question, which is long: what `--json` prints. */
export const summaryJson = ({ steps, ...rest }: AuditReport) => ({
  ...rest,
  steps: steps.map(({ verdicts, ...step }) => ({ ...step, resolved: verdicts.filter((v) => v.resolved).length })),
});
