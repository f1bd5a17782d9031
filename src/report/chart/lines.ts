/** A line chart as SVG: thin axes, 95 % bands, names at the ends of the lines. Colours come from the page's style. */
import { type Content, type Html, html } from '../markup.ts';
import { linear, niceTicks, spreadApart, tickLabels } from './scale.ts';

/** Names of the page's colours. */
export type Ink = 'ink' | 'c0' | 'c1' | 'c2' | 'c3' | 'teal' | 'ochre' | 'rose' | 'slate' | 'violet';

export interface Point {
  readonly x: number;
  readonly y: number;
  /** 95 % interval, drawn as a band. */
  readonly low?: number;
  readonly high?: number;
  /** Shown when a pointer rests on the point; such points get a dot. */
  readonly note?: string;
}

export interface Series {
  /** Empty: not named at its end. */
  readonly name: string;
  readonly ink: Ink;
  /** Single steps behind their means. */
  readonly faint?: boolean;
  /** Lengths of strokes and gaps, where an ink is used twice. */
  readonly dash?: string;
  readonly points: readonly Point[];
}

export interface LineChart {
  readonly title: Content;
  /** For those who cannot see it; plain text. */
  readonly describe: string;
  readonly xName: string;
  readonly x: readonly [low: number, high: number];
  readonly xTicks: readonly { readonly at: number; readonly label: string }[];
  /** For rows of two charts instead of three. */
  readonly wide?: boolean;
  /** 0 belongs to the axis. */
  readonly fromZero?: boolean;
  readonly series: readonly Series[];
  /** Grey stretches behind the lines. */
  readonly shades?: readonly (readonly [from: number, to: number])[];
  /** Upright lines with a name on top. */
  readonly rules?: readonly { readonly at: number; readonly label: string; readonly labelAt: number }[];
}

const SIZES = { normal: [380, 236], wide: [490, 250] } as const;
const [TOP, BOTTOM, LEFT] = [18, 38, 48];
const LETTER = 6.1;
const GAP = 13;

const px = (x: number): string => x.toFixed(1);

export function lineChart(chart: LineChart): Html {
  const [width, height] = SIZES[chart.wide ? 'wide' : 'normal'];
  const drawn = chart.series.filter(({ points }) => points.length > 0);
  if (drawn.length === 0)
    return html`<figure class="chart"><figcaption>${chart.title}</figcaption><p class="none">nothing measured</p></figure>`;
  const named = drawn.filter(({ name }) => name !== '');
  const right = 12 + LETTER * Math.max(0, ...named.map(({ name }) => name.length));
  const values = drawn.flatMap(({ points }) => points.flatMap(({ y, low = y, high = y }) => [y, low, high]));
  if (chart.fromZero) values.push(0);
  const ticks = niceTicks(Math.min(...values), Math.max(...values), 4);
  const [x0, x1, y0, y1] = [LEFT, width - right, height - BOTTOM, TOP];
  const x = linear(chart.x, [x0, x1]);
  const y = linear([ticks[0]!, ticks.at(-1)!], [y0, y1]);
  const labels = tickLabels(ticks);
  const ends = spreadApart(
    named.map(({ points }) => y(points.at(-1)!.y)),
    GAP,
    y1,
    y0,
  );
  return html`<figure class="chart"><figcaption>${chart.title}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${chart.describe}">
${(chart.shades ?? []).map(([from, to]) => html`<rect class="shade" x="${px(x(from))}" y="${y1}" width="${px(x(to) - x(from))}" height="${y0 - y1}"/>`)}
${ticks.map((tick, t) => html`<line class="grid" x1="${x0}" x2="${px(x1)}" y1="${px(y(tick))}" y2="${px(y(tick))}"/><text class="tick" x="${x0 - 6}" y="${px(y(tick) + 3.5)}" text-anchor="end">${labels[t]!}</text>`)}
${(chart.rules ?? []).map(({ at, label, labelAt }) => html`<line class="rule" x1="${px(x(at))}" x2="${px(x(at))}" y1="${y1}" y2="${y0}"/><text class="tick" x="${px(x(labelAt))}" y="${y1 - 6}" text-anchor="middle">${label}</text>`)}
<line class="axis" x1="${x0}" x2="${px(x1)}" y1="${y0}" y2="${y0}"/>
${chart.xTicks.map(({ at, label }) => html`<line class="axis" x1="${px(x(at))}" x2="${px(x(at))}" y1="${y0}" y2="${y0 + 4}"/><text class="tick" x="${px(x(at))}" y="${y0 + 16}" text-anchor="middle">${label}</text>`)}
<text class="tick" x="${px((x0 + x1) / 2)}" y="${height - 5}" text-anchor="middle">${chart.xName}</text>
${drawn.map(({ ink, points }) => bandOf(ink, points, x, y))}
${drawn.map((series) => lineOf(series, x, y))}
${named.map(({ name, ink }, i) => html`<text class="name ${ink}" x="${px(x1 + 8)}" y="${px(ends[i]! + 4)}">${withIndex(name)}</text>`)}
</svg></figure>`;
}

/** T_P as T with a small P below the line. */
function withIndex(name: string): Content {
  const [letter, index] = name.split('_');
  return index === undefined ? name : html`${letter!}<tspan dy="3" font-size="8.5">${index}</tspan>`;
}

export const dashOf = (dash: string | undefined): Html | null =>
  dash === undefined ? null : html` stroke-dasharray="${dash}"`;

type Map1 = (value: number) => number;

function bandOf(ink: Ink, points: readonly Point[], x: Map1, y: Map1): Html | null {
  const banded = points.filter(({ low, high }) => low !== undefined && high !== undefined);
  if (banded.length === 0) return null;
  if (banded.length === 1) {
    const [{ x: at, low, high }] = banded as [Point];
    return html`<line class="whisker ${ink}" x1="${px(x(at))}" x2="${px(x(at))}" y1="${px(y(low!))}" y2="${px(y(high!))}"/>`;
  }
  const corners = [
    ...banded.map((p) => `${px(x(p.x))},${px(y(p.high!))}`),
    ...banded.toReversed().map((p) => `${px(x(p.x))},${px(y(p.low!))}`),
  ];
  return html`<polygon class="band ${ink}" points="${corners.join(' ')}"/>`;
}

function lineOf({ ink, faint, dash, points }: Series, x: Map1, y: Map1): Html {
  const path = points.map((p) => `${px(x(p.x))},${px(y(p.y))}`).join(' ');
  const dots = points.filter((p) => p.note !== undefined || points.length === 1);
  return html`<polyline class="line ${ink}${faint ? ' faint' : ''}" points="${path}"${dashOf(dash)}/>${dots.map((p) => html`<circle class="dot ${ink}" cx="${px(x(p.x))}" cy="${px(y(p.y))}" r="2.8">${p.note === undefined ? null : html`<title>${p.note}</title>`}</circle>`)}`;
}
