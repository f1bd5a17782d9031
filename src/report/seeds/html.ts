/** A comparison over seeds as one HTML file: curves with deviations, the plane of accuracy and agreement, the tables. */
import { stringify } from 'yaml';
import type { SeedRound, SeedsReport } from '../../recipe/seeds/report.ts';
import type { Spread } from '../../recipe/seeds/spread.ts';
import type { CaptionedTable } from '../captioned.ts';
import { type Ink, lineChart, type Series } from '../chart/lines.ts';
import { planeChart } from '../chart/plane.ts';
import { share } from '../format.ts';
import { type Content, type Html, html, htmlLines, htmlTable, numeric, sentence, symbol } from '../markup.ts';
import { pageHtml } from '../page.ts';
import { legend } from '../section/view.ts';
import { NO_WARNING, SYMBOLS } from '../words.ts';
import { spreadText } from './spread.ts';
import { seedTables } from './tables.ts';
import { armList, caveatLines, seedsTitle, warningLines } from './text.ts';

const INKS: readonly Ink[] = ['c0', 'c1', 'c2', 'c3', 'teal', 'ochre', 'rose', 'slate', 'violet', 'ink'];
/** For the arms after the tenth, and after the twentieth. */
const DASHES = ['6 3', '2 3'];

interface Drawn {
  readonly system: string;
  /** At the end of its lines: the system, or its number where names are long. */
  readonly name: string;
  readonly ink: Ink;
  readonly dash?: string;
}

const numbered = ({ arms }: SeedsReport): boolean => arms.some(({ suffix }) => suffix !== '');

const drawnOf = (report: SeedsReport): Drawn[] =>
  report.systems.map((system, i) => {
    const dash = DASHES[Math.floor(i / INKS.length) - 1];
    const name = numbered(report) ? String(i + 1) : system;
    return { system, name, ink: INKS[i % INKS.length]!, ...(dash === undefined ? {} : { dash }) };
  });

const namesOf = (report: SeedsReport): Html | null =>
  numbered(report)
    ? legend(drawnOf(report).map(({ system, name, ink }) => [ink, `${name}: ${system}`] as const))
    : null;

const PANELS: readonly {
  readonly title: Content;
  readonly plain: string;
  readonly figure: (round: SeedRound) => Spread | null;
  readonly fromZero?: boolean;
}[] = [
  {
    title: html`False agreement in proposer steps, ${symbol('F')}`,
    plain: 'False agreement in proposer steps',
    figure: ({ scopes }) => scopes.proposer.F,
    fromZero: true,
  },
  {
    title: html`Correct labels in proposer steps, ${symbol('T_P')}`,
    plain: 'Correct labels in proposer steps',
    figure: ({ scopes }) => scopes.proposer.TP,
  },
  {
    title: html`Agreement in proposer steps, ${symbol('A')}`,
    plain: 'Agreement in proposer steps',
    figure: ({ scopes }) => scopes.proposer.A,
  },
  {
    title: html`False agreement in all scheduled steps, ${symbol('F')}`,
    plain: 'False agreement in all scheduled steps',
    figure: ({ scopes }) => scopes.scheduled.F,
    fromZero: true,
  },
  {
    title: html`Correct labels in the bank, ${symbol('T_P')}`,
    plain: 'Correct labels in the bank',
    figure: ({ bankTP }) => bankTP,
  },
  { title: 'Downstream exact match', plain: 'Downstream exact match', figure: ({ em }) => em },
];

export function seedsHtml(report: SeedsReport): string {
  const [warnings, caveats] = [warningLines(report), caveatLines(report)];
  return pageHtml(
    seedsTitle(report),
    html`<h1>${armList(report)}</h1>
<p class="meta">${seedsTitle(report)}. Points are means over seeds, bands one standard deviation${report.seeds.length === 1 ? ' (one seed has none)' : ''}.${caveats.map((text) => ` ${text}`)}</p>
<div class="${warnings.length === 0 ? 'calm' : 'warn'}">${(warnings.length === 0 ? [NO_WARNING] : warnings).map((text) => html`<p>${sentence(text)}</p>`)}</div>
<dl>${SYMBOLS.map(([name, meaning]) => html`<dt>${name.includes('/') ? html`<i>${name}</i>` : symbol(name)}</dt><dd>${meaning}</dd>`)}</dl>
<h2>By round</h2>${namesOf(report)}<div class="row">${PANELS.map((panel) => curves(report, panel))}</div>
<h2>Accuracy, agreement, lost credit</h2>
<p>On the diagonal responses agree with labels as often as they are right. Above it they agree on more than is true: ${symbol('A')} − ${symbol('T_S')} = ${symbol('F')} − ${symbol('L')}.
Arrows go from round to round; all in proposer steps.</p>
${namesOf(report)}<div class="row two">${planes(report)}</div>
<h2>Tables</h2>${seedTables(report).map(tableHtml)}
<h2>Settings</h2><pre>${htmlLines(
      stringify({ runs: report.dirs, config: report.config, ...armSettings(report) }, { lineWidth: 0 })
        .trimEnd()
        .split('\n'),
    )}</pre>`,
  );
}

/** Where other arms depart from the first run's settings. */
const armSettings = (report: SeedsReport): object =>
  numbered(report) ? { arms: Object.fromEntries(report.arms.map(({ name, settings }) => [name, settings])) } : {};

const headOf = (name: string): Content => (/^[A-Z](_[PS])?$/.test(name) ? symbol(name) : sentence(name));

const tableHtml = ({ caption, heads, rows, numbersFrom = 1 }: CaptionedTable): Html =>
  htmlTable(
    heads.map((head, c) => (c < numbersFrom ? { head: headOf(head) } : numeric(headOf(head)))),
    rows,
    sentence(caption),
  );

function curves(report: SeedsReport, { title, plain, figure, fromZero }: (typeof PANELS)[number]): Html {
  const last = Math.max(...report.rounds.map(({ round }) => round));
  const series = drawnOf(report).map(
    ({ system, ...drawn }): Series => ({
      ...drawn,
      points: report.rounds
        .filter((round) => round.system === system)
        .flatMap((round) => {
          const found = figure(round);
          if (found === null || found.values.length === 0) return [];
          const sd = found.sd ?? 0;
          const note = `${system}, round ${round.round}: ${spreadText(found)}`;
          return [{ x: round.round, y: found.mean, low: found.mean - sd, high: found.mean + sd, note }];
        }),
    }),
  );
  return lineChart({
    title,
    describe: `${plain}. ${series.flatMap(({ points }) => points.map(({ note }) => note)).join('; ')}`,
    xName: 'round',
    x: [0.85, last + 0.15],
    xTicks: Array.from({ length: last }, (_, r) => ({ at: r + 1, label: String(r + 1) })),
    ...(fromZero ? { fromZero } : {}),
    series,
  });
}

function planes(report: SeedsReport): Html[] {
  const paths = (x: 'TS' | 'L', y: 'A' | 'F') =>
    drawnOf(report).map(({ system, ...drawn }) => ({
      ...drawn,
      points: report.rounds
        .filter(({ system: own, scopes }) => own === system && scopes.proposer.F.values.length > 0)
        .map(({ round, scopes }) => {
          const [at, up] = [scopes.proposer[x].mean, scopes.proposer[y].mean];
          return { x: at, y: up, note: `${system}, round ${round}: ${share(at)}, ${share(up)}` };
        }),
    }));
  const describe = (name: string, own: ReturnType<typeof paths>): string =>
    `${name}. ${own.flatMap(({ points }) => points.map(({ note }) => note)).join('; ')}`;
  const [agreement, masses] = [paths('TS', 'A'), paths('L', 'F')];
  return [
    planeChart({
      title: html`Agreement ${symbol('A')} against accuracy ${symbol('T_S')}`,
      describe: describe('Agreement against accuracy', agreement),
      xName: 'T_S',
      yName: 'A',
      diagonal: true,
      paths: agreement,
    }),
    planeChart({
      title: html`False agreement ${symbol('F')} against lost credit ${symbol('L')}`,
      describe: describe('False agreement against lost credit', masses),
      xName: 'L',
      yName: 'F',
      diagonal: false,
      fromZero: true,
      paths: masses,
    }),
  ];
}
