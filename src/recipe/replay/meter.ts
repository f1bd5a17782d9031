/** How far a replay is: units of work, one a response of a question. */
import type { Engine } from '../../engine.ts';
import type { StepRecord } from '../../record.ts';
import { Interrupted } from '../../util/error.ts';
import type { Progress } from '../progress.ts';
import type { BankQuestion } from './bank.ts';
import type { ReplayConfig } from './config.ts';
import { type Arm, askings } from './plan.ts';

export type Meter = ReturnType<typeof openMeter>;

export function openMeter(
  config: ReplayConfig,
  seeds: readonly number[],
  arms: readonly Arm[],
  bank: readonly BankQuestion[],
  engine: Engine,
  report: (progress: Progress) => void,
  signal: AbortSignal,
) {
  const { responses, questions } = config.loop;
  const stepCost = questions * responses * 1.5;
  const msv = arms.some(({ labels }) => labels === 'msv') ? 6 * bank.length : 0;
  const names = new Map<string, number>();
  for (const arm of arms)
    for (const { fit } of askings(arm, bank, 0, config.updates))
      names.set(fit.name, Math.max(names.get(fit.name) ?? 0, fit.updates));
  const fitted = [...names.values()].reduce((sum, n) => sum + n, 0);
  const seed = msv + fitted * stepCost + names.size * config.probe + arms.length * bank.length * responses;
  const total = bank.length * responses + config.probe + seeds.length * seed;
  let done = 0;
  let round = 0;
  const send = (units: number, at: Pick<Progress, 'system' | 'phase' | 'step' | 'steps' | 'reward' | 'agreement'>) => {
    done += units;
    const { sampled, prefilled, trained } = engine.usage();
    report({ key: at.system, round, ...at, done, total, tokens: sampled + prefilled + trained });
  };
  const once = { step: 0, steps: 1, reward: null, agreement: null } as const;
  return {
    begin(): void {
      if (signal.aborted) throw new Interrupted('stopped between two steps; run the same command again to go on');
    },
    step(seed: number, { system, reward, agreement }: StepRecord, step: number, steps: number): void {
      round = seeds.indexOf(seed) + 1;
      send(stepCost, { system, phase: 'fit', step, steps, reward: reward.mean, agreement });
    },
    answered: (system: string, n: number) => send(n * responses, { ...once, system, phase: 'answer' }),
    examined: (system: string, n: number) => send(n, { ...once, system, phase: 'probe' }),
    verified: (n: number) => send(6 * n, { ...once, system: 'msv', phase: 'verify' }),
  };
}
