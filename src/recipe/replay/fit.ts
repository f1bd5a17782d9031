/** Fitting graders from the base policy, each distinct one once a seed, whichever arms ask it. */
import type { StateRef } from '../../engine.ts';
import type { Scope } from '../../store.ts';
import type { Context } from '../../train/context.ts';
import { solverStep } from '../../train/solver.ts';
import type { Trainee } from '../../train/trainee.ts';
import type { Descent } from '../../types.ts';
import { descentOf } from '../descent.ts';
import { type Chain, sideBySide, stepName } from '../updates.ts';
import type { BankQuestion } from './bank.ts';
import type { Meter } from './meter.ts';
import type { Asking, Fit } from './plan.ts';

/** A distinct fit, and after how many updates it is asked. */
export interface Wanted {
  readonly fit: Fit;
  readonly bank: readonly BankQuestion[];
  readonly updates: ReadonlySet<number>;
}

interface Planned {
  readonly bank: readonly BankQuestion[];
  readonly askings: readonly Asking[];
}

export function distinctFits(planned: readonly Planned[]): Wanted[] {
  const fits = new Map<string, Wanted>();
  for (const { bank, askings } of planned)
    for (const { fit } of askings) {
      const updates = new Set(fits.get(fit.name)?.updates).add(fit.updates);
      fits.set(fit.name, { fit, bank, updates });
    }
  return [...fits.values()];
}

export interface Fitting {
  readonly scope: Scope;
  readonly context: Context;
  readonly trainee: Trainee;
  readonly meter: Meter;
  /** States of other fits that are still needed. */
  readonly keep: readonly StateRef[];
  readonly descended: (descent: Descent) => void;
}

export interface Fitted {
  /** After how many updates. */
  readonly updates: number;
  readonly state: StateRef;
  /** The state for asking it: that one; or, where its weights are gone, a fit made again. */
  readonly ready: () => Promise<StateRef>;
}

export async function fitGrader({ fit, bank, updates }: Wanted, at: Fitting): Promise<Fitted[]> {
  const { scope, context, trainee, meter, keep, descended } = at;
  const { engine, settings, blobs } = context;
  const own = fit.on.map((i) => bank[i]!);
  const run = async (count: number, name: string): Promise<StateRef[]> => {
    const chain: Chain = {
      start: engine.base,
      count,
      key: (step) => `fit/${name}/${stepName(step)}`,
      marked: (n) => fit.marks.includes(n),
      compute: (before, step) =>
        solverStep(context, trainee, {
          system: fit.name,
          round: 1,
          step,
          auxiliary: fit.auxiliary,
          before,
          bank: own,
          age: step,
        }),
    };
    const [states] = await sideBySide(scope, context, [chain], [engine.base, ...keep], {
      begin: meter.begin,
      done(_, record, step, steps) {
        const descent = descentOf(record);
        if (descent !== null) descended(descent);
        meter.step(settings.seed, record, step, steps);
      },
    });
    return states!;
  };
  const states = await run(Math.max(...updates), fit.name);
  return [...updates].map((n) => {
    // Half of one update is none for one of the two graders.
    const state = states[n - 1] ?? engine.base;
    return {
      updates: n,
      state,
      async ready() {
        // Folders of earlier versions kept the states alone that their arms asked. A server that keeps its own says so itself.
        if (engine.forget !== undefined || (await blobs.has(state.policy))) return state;
        return (await run(n, `${fit.name}@${n}`)).at(-1)!;
      },
    };
  });
}
