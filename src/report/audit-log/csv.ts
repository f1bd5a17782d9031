/** The audit of a log as one flat table, a line a scope: all, round, step, hops, source. Numbers are as computed. */
import { CELLS } from '../../method/agreement.ts';
import { MEASURES, type ScopeAudit } from '../../recipe/audit/scope.ts';
import type { LogAudit } from '../../recipe/audit-log/audit.ts';

const NAMES = ['scope', 'system', 'round', 'step', 'hops', 'source'] as const;
type Names = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

const HEAD = [
  ...NAMES,
  ...['steps', 'questions', 'E', 'J', 'coverage'],
  ...CELLS,
  ...MEASURES.filter((measure) => measure !== 'F' && measure !== 'L'),
  ...MEASURES.flatMap((measure) => [`${measure}_low`, `${measure}_high`]),
];

export function logAuditCsv({ systems }: LogAudit): string {
  const lines = systems.flatMap(({ system, all, rounds, byHops, bySource }) => [
    lineOf({ scope: 'all', system }, all),
    ...rounds.flatMap(({ round, scope, steps }) => [
      lineOf({ scope: 'round', system, round }, scope),
      ...steps.map(({ step, scope: own }) => lineOf({ scope: 'step', system, round, step }, own)),
    ]),
    ...byHops.map(({ hops, scope }) => lineOf({ scope: 'hops', system, hops: String(hops) }, scope)),
    ...bySource.map(({ source, scope }) => lineOf({ scope: 'source', system, source }, scope)),
  ]);
  return `${[HEAD.join(','), ...lines].join('\n')}\n`;
}

function lineOf(
  names: Names,
  { steps, questions, evaluated, judged, coverage, shares, intervals }: ScopeAudit,
): string {
  const excess = shares === null ? null : shares.A - shares.TS;
  const numbers = [
    ...[steps, questions, evaluated, judged, coverage],
    ...CELLS.map((mass) => shares?.[mass]),
    ...[shares?.TP, shares?.TS, shares?.A, excess],
    ...MEASURES.flatMap((measure) => [intervals?.[measure].low, intervals?.[measure].high]),
  ];
  return [...NAMES.map((name) => cellOf(names[name] ?? '')), ...numbers.map((x) => (x == null ? '' : String(x)))].join(
    ',',
  );
}

/** Names come from the log: quoted where needed, and never read as a formula by a spreadsheet. */
function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
