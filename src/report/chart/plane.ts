/** A square chart of two shares as SVG: paths by round with an arrow at their end, and the diagonal where both are equal. */
import { type Content, type Html, html } from '../markup.ts';
import { dashOf, type Ink } from './lines.ts';
import { linear, niceTicks, spreadApart, tickLabels } from './scale.ts';

export interface Path {
  readonly name: string;
  readonly ink: Ink;
  /** Lengths of strokes and gaps, where an ink is used twice. */
  readonly dash?: string;
  /** In the order of the rounds. */
  readonly points: readonly { readonly x: number; readonly y: number; readonly note: string }[];
}

export interface PlaneChart {
  readonly title: Content;
  /** For those who cannot see it; plain text. */
  readonly describe: string;
  readonly xName: Content;
  readonly yName: Content;
  readonly diagonal: boolean;
  /** 0 belongs to both axes. */
  readonly fromZero?: boolean;
  readonly paths: readonly Path[];
}

const [WIDTH, HEIGHT] = [430, 330];
const [TOP, BOTTOM, LEFT, RIGHT] = [14, 40, 52, 110];
const px = (x: number): string => x.toFixed(1);

export function planeChart({ title, describe, xName, yName, diagonal, fromZero = false, paths }: PlaneChart): Html {
  const drawn = paths.filter(({ points }) => points.length > 0);
  if (drawn.length === 0)
    return html`<figure class="chart"><figcaption>${title}</figcaption><p class="none">nothing measured</p></figure>`;
  const all = drawn.flatMap(({ points }) => points);
  const zero = fromZero ? [0] : [];
  // One scale for both axes, so that the diagonal is one.
  const together = diagonal ? [...all.map(({ x }) => x), ...all.map(({ y }) => y), ...zero] : null;
  const ticksOf = (values: readonly number[]) => niceTicks(Math.min(...values), Math.max(...values), 5);
  const xTicks = ticksOf(together ?? [...all.map(({ x }) => x), ...zero]);
  const yTicks = ticksOf(together ?? [...all.map(({ y }) => y), ...zero]);
  const [x0, x1, y0, y1] = [LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, TOP];
  const x = linear([xTicks[0]!, xTicks.at(-1)!], [x0, x1]);
  const y = linear([yTicks[0]!, yTicks.at(-1)!], [y0, y1]);
  const [xLabels, yLabels] = [tickLabels(xTicks), tickLabels(yTicks)];
  const names = spreadApart(
    drawn.map(({ points }) => y(points.at(-1)!.y)),
    13,
    y1,
    y0,
  );
  return html`<figure class="chart"><figcaption>${title}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${describe}">
${yTicks.map((tick, t) => html`<line class="grid" x1="${x0}" x2="${x1}" y1="${px(y(tick))}" y2="${px(y(tick))}"/><text class="tick" x="${x0 - 6}" y="${px(y(tick) + 3.5)}" text-anchor="end">${yLabels[t]!}</text>`)}
${xTicks.map((tick, t) => html`<line class="grid" x1="${px(x(tick))}" x2="${px(x(tick))}" y1="${y1}" y2="${y0}"/><text class="tick" x="${px(x(tick))}" y="${y0 + 15}" text-anchor="middle">${xLabels[t]!}</text>`)}
${diagonal ? html`<line class="rule" x1="${x0}" y1="${y0}" x2="${x1}" y2="${y1}"/>` : null}
<text class="tick" x="${(x0 + x1) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${xName}</text>
<text class="tick" x="12" y="${(y0 + y1) / 2}" text-anchor="middle" transform="rotate(-90 12 ${(y0 + y1) / 2})">${yName}</text>
${drawn.map((path, i) => pathOf(path, x, y, names[i]!, x1))}
</svg></figure>`;
}

function pathOf(
  { name, ink, dash, points }: Path,
  x: (v: number) => number,
  y: (v: number) => number,
  nameAt: number,
  edge: number,
): Html {
  const at = points.map((p) => [x(p.x), y(p.y)] as const);
  const [end, before] = [at.at(-1)!, at.at(-2)];
  return html`<polyline class="line ${ink}" points="${at.map(([a, b]) => `${px(a)},${px(b)}`).join(' ')}"${dashOf(dash)}/>
${before === undefined ? null : headOf(before, end, ink)}
${points.map((p, i) => html`<circle class="dot ${ink}" cx="${px(at[i]![0])}" cy="${px(at[i]![1])}" r="2.8"><title>${p.note}</title></circle>`)}
<text class="name ${ink}" x="${edge + 8}" y="${px(nameAt + 4)}">${name}</text>`;
}

/** An open arrow head at `end`. */
function headOf([x0, y0]: readonly [number, number], [x1, y1]: readonly [number, number], ink: Ink): Html | null {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 4) return null;
  const wing = (turn: number): string => {
    const angle = Math.atan2(y1 - y0, x1 - x0) + turn;
    return `${px(x1 - 9 * Math.cos(angle))},${px(y1 - 9 * Math.sin(angle))}`;
  };
  return html`<polyline class="line ${ink}" points="${wing(0.45)} ${px(x1)},${px(y1)} ${wing(-0.45)}"/>`;
}
