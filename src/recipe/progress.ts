/** How far a run is, in units of work (rollouts) so that the estimate of the time left holds across phases. */
import type { Engine } from '../engine.ts';
import { ESTIMATORS, rolloutsPerPrompt } from '../method/advantage.ts';
import { auxiliaryUpdates, FEEDBACK_PLANS } from '../method/feedback.ts';
import { ALARMS, type Alarm, type AlarmName, alarmsAt, stretchOf } from '../method/health.ts';
import { LABEL_RULES, type LabelRule } from '../method/label.ts';
import type { EvaluationRecord, StepRecord } from '../record.ts';
import type { Task } from '../train/context.ts';
import { Alarmed, Interrupted } from '../util/error.ts';
import type { EvolveConfig } from './config.ts';
import { SHARED, SYSTEMS, type SystemName } from './systems.ts';

const RULES = Object.keys(LABEL_RULES) as LabelRule[];

export interface Progress {
  readonly key: string;
  readonly system: string;
  readonly round: number;
  readonly phase: string;
  readonly step: number;
  /** Steps of this phase. */
  readonly steps: number;
  /** Units of work, of the whole run. */
  readonly done: number;
  readonly total: number;
  readonly reward: number | null;
  readonly agreement: number | null;
  /** Tokens that the engine has worked since it was opened. */
  readonly tokens: number;
  /** Alarms that ring at this step. */
  readonly alarms?: readonly Alarm[];
}

/** `entropy is 0.15 (entropy of the policy against its first step; alarm below 0.2): what to try` */
export function alarmText({ name, value }: Alarm): string {
  const { about, beyond, limit, advice } = ALARMS[name];
  return `${name} is ${value.toPrecision(2)} (${about}; the alarm rings ${beyond} ${limit}): ${advice}`;
}

export function meter(
  config: EvolveConfig,
  task: Task,
  engine: Engine,
  report: (progress: Progress) => void,
  signal: AbortSignal,
  stopOn: readonly AlarmName[] = [],
) {
  const { trajectories } = ESTIMATORS[config.estimator];
  const { responses } = config;
  const cost = {
    proposer: (labels: LabelRule) =>
      config.prompts *
      (trajectories * (1 + LABEL_RULES[labels].generations) + rolloutsPerPrompt({ trajectories, responses })),
    solver: config.questions * config.responses * 1.5,
    write: (labels: LabelRule) => config.admitted * (1 + LABEL_RULES[labels].generations),
    exam: task.gold.length,
  };
  const round = (labels: LabelRule) =>
    config.proposerSteps * cost.proposer(labels) + cost.write(labels) + config.solverSteps * cost.solver + cost.exam;
  const branches = config.systems.map((system) => {
    const { feedback, labels } = SYSTEMS[system];
    const [a, b] = auxiliaryUpdates(FEEDBACK_PLANS[feedback], config.auxiliarySteps);
    return (config.rounds - 1) * (round(labels) + (a + b) * cost.solver);
  });
  const shared = [...new Set(config.systems.map((system) => SYSTEMS[system].labels))].map(round);
  const total = [cost.exam, ...shared, ...branches].reduce((sum, n) => sum + n, 0);
  const labelsOf = (system: string): LabelRule =>
    RULES.find((rule) => SHARED[rule].name === system) ?? SYSTEMS[system as SystemName].labels;
  let done = 0;
  let alarm: Alarm | null = null;
  const firsts = new Map<string, StepRecord>();
  const send = (units: number, at: Omit<Progress, 'done' | 'total' | 'tokens'>): void => {
    done += units;
    const { sampled, prefilled, trained } = engine.usage();
    report({ ...at, done, total, tokens: sampled + prefilled + trained });
  };
  return {
    /** Stops here when asked to. */
    begin(): void {
      if (alarm !== null) throw new Alarmed(alarmText(alarm));
      if (signal.aborted) throw new Interrupted('stopped between two steps; run the same command again to go on');
    },
    step(key: string, record: StepRecord, step: number, steps: number): void {
      const { system, round, phase, reward, agreement } = record;
      const first = firsts.get(stretchOf(record)) ?? record;
      firsts.set(stretchOf(record), first);
      const alarms = alarmsAt(record, first);
      alarm ??= alarms.find(({ name }) => stopOn.includes(name)) ?? null;
      send(phase === 'proposer' ? cost.proposer(labelsOf(system)) : cost.solver, {
        key,
        system,
        round,
        phase,
        step,
        steps,
        reward: reward.mean,
        agreement,
        alarms,
      });
    },
    write(key: string, system: string, round: number): void {
      send(cost.write(labelsOf(system)), {
        key,
        system,
        round,
        phase: 'write',
        step: 0,
        steps: 1,
        reward: null,
        agreement: null,
      });
    },
    exam(key: string, { system, round, em }: EvaluationRecord): void {
      const share = em.filter(Boolean).length / Math.max(1, em.length);
      send(cost.exam, { key, system, round, phase: 'exam', step: 0, steps: 1, reward: share, agreement: null });
    },
  };
}
