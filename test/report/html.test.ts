import { describe, expect, it } from 'vitest';
import { auditRun } from '../../src/recipe/audit.ts';
import { lineChart } from '../../src/report/chart/lines.ts';
import { niceTicks, spreadApart, tickLabels } from '../../src/report/chart/scale.ts';
import { reportHtml } from '../../src/report/html.ts';
import { html } from '../../src/report/markup.ts';
import { openReader } from '../../src/store/read.ts';
import { folder } from '../store/folder.ts';
import { asked, fixtureAuditor, HOSTILE, type Shape, writeRun } from './fixture.ts';

async function page(differences: Partial<Shape> = {}, sourceText: (id: string) => string | null = () => HOSTILE) {
  const dir = folder();
  await writeRun(dir, differences);
  const reader = await openReader(dir);
  return reportHtml(await auditRun(reader, fixtureAuditor), reader, sourceText);
}

/** Elements that are not closed in order. */
function unbalanced(text: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, slash, name, alone] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*?(\/?)>/g)) {
    if (alone === '/' || name === 'meta') continue;
    if (slash === '') open.push(name!);
    else if (open.pop() !== name) wrong.push(name!);
  }
  return [...wrong, ...open];
}

describe('reportHtml', () => {
  it('stands by itself: no script, no request, every element closed', async () => {
    const text = await page();
    expect(text).not.toMatch(/<script|<img|<link|<iframe|<object|url\(|@import/i);
    expect(text).toContain(`default-src 'none'`);
    expect(unbalanced(text)).toEqual([]);
    expect(text).not.toMatch(/NaN|undefined|\[object|Infinity/);
  });

  it('escapes what models and documents wrote', async () => {
    const hostile = asked('s1"><b onclick=x>', 1, 'FFFFF');
    const text = await page({ feedback: () => [{ ...hostile, question: `${HOSTILE}<script>x</script> (blue)` }] });
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt; \\e[2J\\u{202e}gnp.exe');
    expect(text).toContain('&lt;script&gt;x&lt;/script&gt; (blue)');
    expect(text).toContain('s1&quot;&gt;&lt;b onclick=x&gt;');
    // The settings are shown too.
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toMatch(/<script|<img|<b o|\p{Cf}/u);
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('shows a run that has hardly begun', async () => {
    const text = await page(
      { rounds: 1, proposerSteps: 1, solverSteps: 0, done: false, feedback: () => [] },
      () => null,
    );
    expect(text).toContain('The run is not done');
    expect(text).toContain('nothing measured');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    expect(unbalanced(text)).toEqual([]);
  });

  it('draws bands for rounds and names the lines', async () => {
    const text = await page();
    expect(text.match(/<polygon class="band c0"/g)!.length).toBeGreaterThanOrEqual(6);
    expect(text).toContain('>dr-zero</text>');
    expect(text).toContain('T<tspan dy="3" font-size="8.5">P</tspan>');
    expect(text).toContain('Lineage of the graders');
  });
});

describe('charts', () => {
  it('puts ticks at round numbers that cover the data', () => {
    expect(niceTicks(0, 0.086, 4)).toEqual([0, 0.025, 0.05, 0.075, 0.1]);
    expect(niceTicks(-0.018, 0.037, 4)).toEqual([-0.02, 0, 0.02, 0.04]);
    expect(niceTicks(2, 2, 4)).toEqual([1.5, 1.75, 2, 2.25, 2.5]);
    expect(niceTicks(0, 0, 4)).toEqual([-1, -0.5, 0, 0.5, 1]);
    expect(tickLabels([-0.02, 0, 0.02])).toEqual(['−.02', '0', '.02']);
    expect(tickLabels([0, 0.5, 1])).toEqual(['0', '.5', '1.0']);
    expect(tickLabels([0, 2.5e-6, 5e-6])).toEqual(['0', '2.5e−6', '5e−6']);
  });
  it('moves names apart without leaving the frame or changing their order', () => {
    expect(spreadApart([10, 12, 50], 13, 0, 100)).toEqual([10, 23, 50]);
    expect(spreadApart([99, 98], 13, 0, 100)).toEqual([100, 87]);
  });
  it('maps values to places: 0 at the axis, the top tick at the top', () => {
    const { html: svg } = lineChart({
      title: 't',
      describe: 'd',
      xName: 'x',
      x: [0, 10],
      xTicks: [],
      fromZero: true,
      series: [
        {
          name: '',
          ink: 'c0',
          points: [
            { x: 0, y: 0 },
            { x: 10, y: 4 },
          ],
        },
      ],
    });
    // Width 380 with 48 left and 12 right; height 236 with 18 above and 38 below.
    expect(svg).toContain('points="48.0,198.0 368.0,18.0"');
  });
  it('escapes in text and attributes alike', () => {
    expect(() => html`${JSON.parse('{"html":"<b>"}')}`).toThrow(TypeError);
    expect(html`<a title="${'"\'<&'}">${['x', html`<b>y</b>`, null, 3]}</a>`.html).toBe(
      '<a title="&quot;&#39;&lt;&amp;">x<b>y</b>3</a>',
    );
  });
});
