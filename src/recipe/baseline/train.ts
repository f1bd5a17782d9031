/** A training baseline from start to end: exam of the base, then rounds of its recipe, each with an exam. Journalled once. */
import type { Engine } from '../../engine.ts';
import type { Matcher } from '../../matcher.ts';
import type { BankItem, DoneRecord, SetupRecord } from '../../record.ts';
import type { Run } from '../../store/run.ts';
import type { Context, Task } from '../../train/context.ts';
import { loopSettings } from '../evolve.ts';
import type { Progress } from '../progress.ts';
import { setupRecord } from '../setup.ts';
import type { TrainConfig } from './config.ts';
import { HOPS_OF } from './hops.ts';
import { openLoop } from './loop.ts';
import { type Policies, RECIPES, type Recipe } from './recipes.ts';

export interface TrainInput {
  readonly config: TrainConfig;
  readonly run: Run;
  readonly engine: Engine;
  readonly task: Task;
  readonly matcher: Matcher;
  readonly gold: readonly BankItem[];
  readonly report: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

export async function trainBaseline(input: TrainInput): Promise<void> {
  const { config, run, engine, task, matcher, gold, report, signal } = input;
  const { recipe: system, loop: settings } = config;
  const recipe: Recipe = RECIPES[system];
  const context: Context = {
    engine,
    blobs: run.blobs,
    task: { ...limited(task, recipe), hopsOf: HOPS_OF[settings.task.kind] },
    matcher,
    settings: loopSettings(settings),
  };
  const loop = openLoop({ system, run, context, gold, phases: recipe.phases(settings), report, signal });
  try {
    await run.once<SetupRecord>('setup', async () => setupRecord(context, [system]));
    await loop.examine(0, engine.base.policy);
    let policies: Policies = { proposer: engine.base, solver: engine.base };
    for (let round = 1; round <= settings.rounds; round++) {
      policies = await recipe.round(loop, round, policies);
      await loop.examine(round, policies.solver.policy);
    }
    await run.once<DoneRecord>('done', async () => ({ kind: 'done' }));
  } finally {
    await loop.close();
  }
}

function limited(task: Task, { searches }: Recipe): Task {
  if (searches === null) return task;
  return { ...task, limits: { ...task.limits, solver: { ...task.limits.solver, searches } } };
}
