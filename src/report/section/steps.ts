/** Curves over the steps of a run: what the audit sees, and how training went. */
import { mean } from '../../method/statistics.ts';
import type { AuditedStep, AuditReport } from '../../recipe/audit.ts';
import { isShared } from '../../recipe/systems.ts';
import type { StepRecord } from '../../record.ts';
import { type Ink, lineChart, type Point, type Series } from '../chart/lines.ts';
import { type Content, type Html, html, symbol } from '../markup.ts';
import { healthLine } from '../words.ts';
import { inkOf, legend, SCHEDULED, stepAxis, stepsOf, systemLegend } from './view.ts';

type Value = (step: AuditedStep) => number | null | undefined;

const pointsOf = (steps: readonly AuditedStep[], value: Value): Point[] =>
  steps.flatMap((step, i) => {
    const y = value(step);
    return y == null ? [] : [{ x: i + 1, y }];
  });

type NamedLine = readonly [name: string, ink: Ink, value: Value];

/** Lines of one system in one chart, over the steps of the given phases. */
function systemChart(
  report: AuditReport,
  system: string,
  title: Content,
  lines: readonly NamedLine[],
  { phases = SCHEDULED, fromZero = false, means = false } = {},
): Html {
  const steps = stepsOf(report, system, phases);
  const axis = stepAxis(steps);
  return lineChart({
    title,
    describe: `${system}: ${lines.map(([name]) => name).join(', ')} over ${steps.length} steps`,
    ...axis,
    fromZero,
    wide: means,
    series: lines.flatMap(([name, ink, value]) => {
      const points = pointsOf(steps, value);
      if (!means) return [{ name, ink, points }];
      return [{ name: '', ink, points, faint: true }, ...meansOf(axis.stretches, points, name, ink)];
    }),
  });
}

/** A level line over each stretch of steps of one kind; the last one carries the name. */
function meansOf(
  stretches: ReturnType<typeof stepAxis>['stretches'],
  points: readonly Point[],
  name: string,
  ink: Ink,
): Series[] {
  const levels = stretches.flatMap(({ from, to }) => {
    const own = points.filter(({ x }) => x > from && x < to);
    if (own.length === 0) return [];
    const y = mean(own.map((point) => point.y));
    return [
      [
        { x: from, y },
        { x: to, y },
      ],
    ];
  });
  return levels.map((level, i) => ({ name: i === levels.length - 1 ? name : '', ink, points: level }));
}

export function auditCurves(report: AuditReport): Html {
  const charts = report.setup.systems.map((system) => [
    systemChart(
      report,
      system,
      html`${system}: agreement against truth`,
      [
        ['A', 'violet', ({ metrics }) => metrics.shares?.A],
        ['T_P', 'teal', ({ metrics }) => metrics.shares?.TP],
        ['T_S', 'ochre', ({ metrics }) => metrics.shares?.TS],
      ],
      { means: true },
    ),
    systemChart(
      report,
      system,
      html`${system}: false agreement against lost credit`,
      [
        ['F', 'rose', ({ metrics }) => metrics.shares?.F],
        ['L', 'slate', ({ metrics }) => metrics.shares?.L],
      ],
      { fromZero: true, means: true },
    ),
  ]);
  return html`<h2>The audit step by step</h2>
<p>Co-cheating shows where ${symbol('A')} rises and ${symbol('T_P')} does not, and where ${symbol('F')} leaves ${symbol('L')} behind:
with no inconsistent pairs, ${symbol('A')} − ${symbol('T_S')} = ${symbol('F')} − ${symbol('L')}. Level lines are the means of the proposer and of the solver steps of a round.</p>
${legend([
  ['violet', html`${symbol('A')} agreement`],
  ['teal', html`${symbol('T_P')} correct labels`],
  ['ochre', html`${symbol('T_S')} correct responses`],
  ['rose', html`${symbol('F')} false agreement`],
  ['slate', html`${symbol('L')} lost credit`],
  ['area', 'proposer steps'],
])}<div class="row two">${charts}</div>`;
}

const PARTS: Readonly<Record<string, Ink>> = {
  difficulty: 'rose',
  format: 'ink',
  thinking: 'teal',
  tools: 'ochre',
  question: 'violet',
  answer: 'slate',
};
const SPARE: readonly Ink[] = ['c0', 'c1', 'c2', 'c3'];

/** The systems in one chart, over the steps of one phase; the shared steps are drawn once. */
function phaseChart(
  report: AuditReport,
  phase: StepRecord['phase'],
  title: Content,
  value: Value,
  fromZero = false,
): Html {
  const { systems } = report.setup;
  const all = systems.map((system) => ({ system, steps: stepsOf(report, system, [phase]) }));
  const longest = all.map(({ steps }) => steps).reduce((a, b) => (b.length > a.length ? b : a), []);
  const sharedSteps = (steps: readonly AuditedStep[]) => steps.filter(({ record }) => isShared(record.system));
  const series = all.map(({ system, steps }): Series => {
    const shared = sharedSteps(steps).length;
    // From the last shared point on: there the systems part.
    const own = pointsOf(steps, value).filter(({ x }) => x >= Math.max(1, shared));
    return { name: steps.length > shared ? system : '', ink: inkOf(report, system), points: own };
  });
  // Systems of one label rule have the same shared steps: drawn once.
  const trunks = new Map(all.map(({ steps }) => [sharedSteps(steps)[0]?.key, sharedSteps(steps)]));
  return lineChart({
    title,
    describe: `${systems.join(', ')} over ${longest.length} ${phase} steps`,
    ...stepAxis(longest),
    xName: `${phase} step`,
    fromZero,
    series: [
      ...series,
      ...[...trunks.values()].map((steps): Series => ({ name: '', ink: 'ink', points: pointsOf(steps, value) })),
    ],
  });
}

const meanHops = ({ record }: AuditedStep): number | null => {
  const counts = Object.entries(record.hops);
  const total = counts.reduce((sum, [, n]) => sum + n, 0);
  return total === 0 ? null : counts.reduce((sum, [hops, n]) => sum + Number(hops) * n, 0) / total;
};

export function trainingCurves(report: AuditReport): Html {
  const both = (title: string, value: Value, fromZero = false) =>
    (['proposer', 'solver'] as const).map((phase) => phaseChart(report, phase, `${title}, ${phase}`, value, fromZero));
  const parts = report.setup.systems.map((system) => {
    const names = [
      ...new Set(stepsOf(report, system, ['proposer']).flatMap(({ record }) => Object.keys(record.reward.parts))),
    ];
    return systemChart(
      report,
      system,
      `${system}: parts of the proposer’s reward`,
      names.map((name, i) => [
        name,
        PARTS[name] ?? SPARE[i % SPARE.length]!,
        ({ record }: AuditedStep) => record.reward.parts[name],
      ]),
      { phases: ['proposer'], fromZero: true },
    );
  });
  return html`<h2>Training</h2>
${report.health.length === 0 ? html`<p class="soft">No alarm rang.</p>` : html`<ul>${report.health.map((found) => html`<li>${healthLine(found)}</li>`)}</ul>`}
<p>The proposer’s reward is not monotone in agreement: a question that all responses match earns no difficulty.</p>
${systemLegend(report)}<div class="row">
${both('Mean reward', ({ record }) => record.reward.mean)}
${parts}
${both('Searches a trajectory', ({ record }) => record.rollout.searches, true)}
${both('Entropy a token, nats', ({ record }) => record.rollout.entropy, true)}
${both('Tokens a trajectory', ({ record }) => record.rollout.tokens, true)}
${both('Well-formed share', ({ record: { counts } }) => (counts.trajectories === 0 ? null : counts.formed / counts.trajectories), true)}
${both('Groups that taught nothing', ({ record: { counts } }) => (counts.groups === 0 ? null : counts.idleGroups / counts.groups), true)}
${phaseChart(report, 'solver', 'Hops a question, solver', meanHops)}
</div><h3>Optimiser</h3><div class="row">
${both('Gradient norm', ({ record }) => record.update.gradNorm, true)}
${both('Sampler − trainer log p, nats', ({ record }) => record.update.klSamplerTrainer, true)}
</div>`;
}
