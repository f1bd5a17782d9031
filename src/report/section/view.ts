/** What the sections share: whose steps are whose, in which colour, and how an interval stands in a table. */
import type { Interval } from '../../method/statistics.ts';
import type { Measure } from '../../recipe/audit/scope.ts';
import type { AuditedStep, AuditReport } from '../../recipe/audit.ts';
import { sharedOf } from '../../recipe/systems.ts';
import type { StepRecord } from '../../record.ts';
import type { Ink } from '../chart/lines.ts';
import { niceTicks } from '../chart/scale.ts';
import { DASH, share } from '../format.ts';
import { type Content, type Html, html, symbol } from '../markup.ts';

const SYSTEM_INKS: readonly Ink[] = ['c0', 'c1', 'c2', 'c3'];

export const inkOf = ({ setup }: AuditReport, system: string): Ink =>
  SYSTEM_INKS[setup.systems.indexOf(system) % SYSTEM_INKS.length] ?? 'ink';

type Phase = StepRecord['phase'];
export const SCHEDULED: readonly Phase[] = ['proposer', 'solver'];

/** A system's steps in order, the shared ones first. */
export const stepsOf = ({ steps }: AuditReport, system: string, phases: readonly Phase[]): AuditedStep[] =>
  steps.filter(({ record }) => [system, sharedOf(system)].includes(record.system) && phases.includes(record.phase));

/** The axis of a system's steps: counted from 1, rounds named on top, proposer steps shaded where solver steps are there too. */
export function stepAxis(steps: readonly AuditedStep[]) {
  const runs: { round: number; phase: Phase; from: number; to: number }[] = [];
  steps.forEach(({ record: { round, phase } }, i) => {
    const last = runs.at(-1);
    if (last && last.round === round && last.phase === phase) last.to = i + 1.5;
    else runs.push({ round, phase, from: i + 0.5, to: i + 1.5 });
  });
  const rounds = [...new Set(runs.map(({ round }) => round))].map((round) => {
    const own = runs.filter((run) => run.round === round);
    const [from, to] = [own[0]!.from, own.at(-1)!.to];
    return { at: from, labelAt: (from + to) / 2, label: runs.length > 12 ? String(round) : `round ${round}` };
  });
  const mixed = new Set(runs.map(({ phase }) => phase)).size > 1;
  const shades = mixed
    ? runs.filter(({ phase }) => phase === 'proposer').map(({ from, to }) => [from, to] as const)
    : [];
  const n = Math.max(1, steps.length);
  return {
    xName: 'step',
    x: [0.5, n + 0.5] as const,
    xTicks: niceTicks(0, n, 5)
      .filter((at) => at >= 1 && at <= n && Number.isInteger(at))
      .map((at) => ({ at, label: String(at) })),
    rules: rounds,
    shades,
    /** Steps of one round and phase. */
    stretches: runs,
  };
}

/** The axis of charts with a point a round. */
export function roundAxis({ setup }: AuditReport) {
  const rounds = Array.from({ length: setup.rounds }, (_, r) => r + 1);
  return {
    xName: 'round',
    x: [0.85, rounds.length + 0.15] as const,
    xTicks: rounds.map((at) => ({ at, label: String(at) })),
  };
}

/** .061 and its interval in small print. */
export const cell = (x: Interval | null | undefined, number = share): Content =>
  x ? html`${number(x.point)} <small>[${number(x.low)}, ${number(x.high)}]</small>` : DASH;

export const legend = (keys: readonly (readonly [ink: Ink | 'area', words: Content])[]): Html =>
  html`<ul class="legend">${keys.map(([ink, words]) => html`<li><span class="key ${ink}"></span>${words}</li>`)}</ul>`;

export const systemLegend = (report: AuditReport): Html =>
  legend([
    ['ink', 'round 1, shared'],
    ...report.setup.systems.map((system) => [inkOf(report, system), system] as const),
  ]);

export const MEASURE_NAMES: Readonly<Record<Measure, Content>> = {
  TP: symbol('T_P'),
  TS: symbol('T_S'),
  A: symbol('A'),
  F: symbol('F'),
  L: symbol('L'),
  excess: html`${symbol('A')} − ${symbol('T_S')}`,
};
