/** The audit of a log as one HTML file. Questions, answers and names in it are untrusted and escaped. */
import type { Measure } from '../../recipe/audit/scope.ts';
import type { LogAudit, SystemAudit } from '../../recipe/audit-log/audit.ts';
import { stackedBars } from '../chart/bars.ts';
import { type Ink, lineChart, type Series } from '../chart/lines.ts';
import { interval } from '../format.ts';
import { type Content, type Html, html, htmlTable, numeric, sentence, symbol } from '../markup.ts';
import { pageHtml } from '../page.ts';
import { shortened } from '../visible.ts';
import { NO_WARNING, SYMBOLS } from '../words.ts';
import { type LogTable, questionTable, tablesOf } from './tables.ts';
import { notes, titleOf, warningSentences } from './words.ts';

const LONGEST_CELL = 300;

export function logAuditHtml(audit: LogAudit): string {
  const warnings = warningSentences(audit);
  const tables = [...tablesOf(audit), questionTable(audit)].filter(({ rows }) => rows.length > 0);
  return pageHtml(
    titleOf(audit),
    html`<h1>${titleOf(audit)}</h1>
<div class="${warnings.length === 0 ? 'calm' : 'warn'}">${(warnings.length === 0 ? [NO_WARNING] : warnings).map((text) => html`<p>${sentence(text)}</p>`)}</div>
<ul>${notes(audit).map((text) => html`<li>${sentence(text)}</li>`)}</ul>
<dl>${SYMBOLS.map(([name, meaning]) => html`<dt>${name.includes('/') ? html`<i>${name}</i>` : symbol(name)}</dt><dd>${meaning}</dd>`)}</dl>
${figures(audit)}
<h2>Tables</h2>
${tables.map(tableHtml)}`,
  );
}

const tableHtml = ({ title, head, numbersFrom, rows }: LogTable): Html =>
  htmlTable(
    head.map((name, c) => (c < numbersFrom ? { head: headOf(name) } : numeric(headOf(name)))),
    rows.map((row) => row.map((cell) => shortened(cell, LONGEST_CELL))),
    sentence(title),
  );

/** Heads of one symbol are set as one. */
const headOf = (name: string): Content => (/^[A-Z](_[PS])?$/.test(name) ? symbol(name) : sentence(name));

const INKS: readonly Ink[] = ['c0', 'c1', 'c2', 'c3'];
const PANELS: readonly { readonly measure: Measure; readonly title: string; readonly fromZero: boolean }[] = [
  { measure: 'F', title: 'False agreement, F', fromZero: true },
  { measure: 'TP', title: 'Correct labels, T_P', fromZero: false },
  { measure: 'A', title: 'Agreement, A', fromZero: false },
  { measure: 'excess', title: 'Excess agreement, A − T_S', fromZero: true },
];
const MASSES = ['C', 'F', 'L', 'other'] as const;

/** Curves where there are rounds; else where the mass is. */
function figures({ systems }: LogAudit): Html {
  const names = [...new Set(systems.flatMap(({ rounds }) => rounds.map(({ round }) => round)))];
  const charts = names.length > 1 ? PANELS.map((panel) => curve(systems, names, panel)) : [massBars(systems)];
  return html`<h2>By round</h2>
<p>Means over the steps of a round; bands are 95 % intervals of a bootstrap over sources.</p>
<div class="row">${charts}</div>`;
}

function curve(
  systems: readonly SystemAudit[],
  names: readonly string[],
  { measure, title, fromZero }: (typeof PANELS)[number],
) {
  const series = systems.map(
    ({ system, rounds }, s): Series => ({
      name: systems.length > 1 ? shortened(system, 16) : '',
      ink: INKS[s % INKS.length]!,
      points: rounds.flatMap(({ round, scope }) => {
        const found = scope.intervals?.[measure];
        if (!found) return [];
        const note = `${system}, round ${round}: ${interval(found)}`;
        return [{ x: names.indexOf(round) + 1, y: found.point, low: found.low, high: found.high, note }];
      }),
    }),
  );
  return lineChart({
    title: sentence(title),
    describe: `${title}. ${series.flatMap(({ points }) => points.map(({ note }) => note)).join('; ')}`,
    xName: 'round',
    x: [0.85, names.length + 0.15],
    xTicks: names.map((name, i) => ({ at: i + 1, label: shortened(name, 10) })),
    series,
    ...(fromZero ? { fromZero } : {}),
  });
}

function massBars(systems: readonly SystemAudit[]): Html {
  const bars = systems.flatMap(({ system, all: { shares } }) => {
    if (shares === null) return [];
    const { C, F, L } = shares;
    return [{ name: shortened(system, 16), values: [C, F, L, Math.max(0, 1 - C - F - L)] }];
  });
  if (bars.length === 0) return html`<p class="none">nothing could be judged</p>`;
  return stackedBars({
    title: 'Shares of the judged pairs',
    describe: bars
      .map(({ name, values }) => `${name}: ${MASSES.map((m, i) => `${m} ${values[i]!.toFixed(3)}`).join(', ')}`)
      .join('; '),
    parts: MASSES,
    bars,
  });
}
