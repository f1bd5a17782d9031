/** How far a run is, in units of work (rollouts) so that the estimate of the time left holds across phases. */
import type { Engine } from '../engine.ts';
import { ESTIMATORS, rolloutsPerPrompt } from '../method/advantage.ts';
import { auxiliaryUpdates, FEEDBACK_PLANS } from '../method/feedback.ts';
import type { EvaluationRecord, StepRecord } from '../record.ts';
import type { Task } from '../train/context.ts';
import { Interrupted } from '../util/error.ts';
import type { EvolveConfig } from './config.ts';
import { SYSTEMS } from './systems.ts';

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
}

export function meter(
  config: EvolveConfig,
  task: Task,
  engine: Engine,
  report: (progress: Progress) => void,
  signal: AbortSignal,
) {
  const { trajectories } = ESTIMATORS[config.estimator];
  const { responses } = config;
  const cost = {
    proposer: config.prompts * (trajectories + rolloutsPerPrompt({ trajectories, responses })),
    solver: config.questions * config.responses * 1.5,
    write: config.admitted,
    exam: task.gold.length,
  };
  const round = config.proposerSteps * cost.proposer + cost.write + config.solverSteps * cost.solver + cost.exam;
  const branches = config.systems.map((system) => {
    const [a, b] = auxiliaryUpdates(FEEDBACK_PLANS[SYSTEMS[system].feedback], config.auxiliarySteps);
    return (config.rounds - 1) * (round + (a + b) * cost.solver);
  });
  const total = cost.exam + round + branches.reduce((sum, n) => sum + n, 0);
  let done = 0;
  const send = (units: number, at: Omit<Progress, 'done' | 'total' | 'tokens'>): void => {
    done += units;
    const { sampled, prefilled, trained } = engine.usage();
    report({ ...at, done, total, tokens: sampled + prefilled + trained });
  };
  return {
    /** Stops here when asked to. */
    begin(): void {
      if (signal.aborted) throw new Interrupted('stopped between two steps; run the same command again to go on');
    },
    step(key: string, record: StepRecord, step: number, steps: number): void {
      const { system, round, phase, reward, agreement } = record;
      send(phase === 'proposer' ? cost.proposer : cost.solver, {
        key,
        system,
        round,
        phase,
        step,
        steps,
        reward: reward.mean,
        agreement,
      });
    },
    write(key: string, system: string, round: number): void {
      send(cost.write, { key, system, round, phase: 'write', step: 0, steps: 1, reward: null, agreement: null });
    },
    exam(key: string, { system, round, em }: EvaluationRecord): void {
      const share = em.filter(Boolean).length / Math.max(1, em.length);
      send(cost.exam, { key, system, round, phase: 'exam', step: 0, steps: 1, reward: share, agreement: null });
    },
  };
}
