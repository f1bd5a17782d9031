/** Training baselines small enough for tests, on the shipped policy. */
import type { TrainConfig } from '../../src/recipe/baseline/config.ts';
import { goldOfTask } from '../../src/recipe/baseline/gold.ts';
import { RECIPES, type RecipeName } from '../../src/recipe/baseline/recipes.ts';
import { trainBaseline } from '../../src/recipe/baseline/train.ts';
import { openPolicyEngine, policyDir } from '../../src/recipe/policies.ts';
import type { Progress } from '../../src/recipe/progress.ts';
import { withMatcher } from '../../src/recipe/run-matcher.ts';
import { openTask } from '../../src/recipe/task.ts';
import { openRun } from '../../src/store/run.ts';
import { tinyConfig } from './tiny.ts';

const QUESTIONS = 12;
const OVER = { prompts: 4, admitted: 4, solverSteps: 2, responses: 3 } as const;

/** Stops between two steps when `until` says so. Throws what the run throws. */
export async function runTinyTrain(
  dir: string,
  recipe: RecipeName,
  over: Parameters<typeof tinyConfig>[0] = {},
  until: (progress: Progress) => boolean = () => false,
): Promise<Progress[]> {
  const loop = tinyConfig({ ...OVER, systems: ['crossfit'], ...over });
  const own = RECIPES[recipe].questions === 'own';
  const config: TrainConfig = { recipe, loop, gold: own ? null : { file: null, questions: QUESTIONS, id: 'tiny' } };
  const run = await openRun(dir, { recipe: 'train', config, seed: loop.seed, codeVersion: 'test', parents: [] });
  const seen: Progress[] = [];
  const stop = new AbortController();
  try {
    const engine = await openPolicyEngine(policyDir(loop.policy), run.blobs, loop.workers);
    try {
      const task = await openTask(loop, engine.tokenizer);
      const gold = own ? [] : goldOfTask(loop, task, QUESTIONS);
      const report = (progress: Progress): void => {
        seen.push(progress);
        if (until(progress)) stop.abort();
      };
      const { signal } = stop;
      await withMatcher(loop, { note: () => {}, warn: () => {} }, async (matcherIn) =>
        trainBaseline({ config, run, engine, task, matcher: await matcherIn(dir), gold, report, signal }),
      );
    } finally {
      await engine.close();
    }
  } finally {
    await run.close();
  }
  return seen;
}
