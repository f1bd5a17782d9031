/** Shares that add up to one, as stacked bars: one bar a row, lightest part first. */
import { type Content, type Html, html } from '../markup.ts';

export interface Bar {
  readonly name: string;
  /** In the order of `parts`; counts. */
  readonly values: readonly number[];
}

export interface Bars {
  readonly title: Content;
  readonly describe: string;
  readonly parts: readonly string[];
  readonly bars: readonly Bar[];
}

const WIDTH = 380;
const ROW = 24;
const LETTER = 6.1;

export function stackedBars({ title, describe, parts, bars }: Bars): Html {
  const left = 14 + LETTER * Math.max(...bars.map(({ name }) => name.length));
  const width = WIDTH - left;
  return html`<figure class="chart"><figcaption>${title}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${(bars.length + 1) * ROW}" role="img" aria-label="${describe}">
${parts.map((part, p) => html`<rect class="part p${p}" x="${(left + (p * width) / parts.length).toFixed(1)}" y="3" width="10" height="10"/><text class="tick" x="${(left + (p * width) / parts.length + 14).toFixed(1)}" y="12">${part}</text>`)}
${bars.map((bar, b) => barOf(bar, (b + 1) * ROW, left, width))}
</svg></figure>`;
}

function barOf({ name, values }: Bar, y: number, left: number, width: number): Html {
  const total = values.reduce((a, b) => a + b, 0) || 1;
  let x = left;
  const rects = values.map((value, p) => {
    const [at, own] = [x, (value / total) * width];
    x += own;
    const label = own > 30 ? `${Math.round((100 * value) / total)} %` : '';
    return html`<rect class="part p${p}" x="${at.toFixed(1)}" y="${y}" width="${own.toFixed(1)}" height="${ROW - 6}"/><text class="part-name q${p}" x="${(at + own / 2).toFixed(1)}" y="${y + 13}" text-anchor="middle">${label}</text>`;
  });
  return html`<text class="tick" x="${(left - 8).toFixed(1)}" y="${y + 13}" text-anchor="end">${name}</text>${rects}`;
}
