/** A loop small enough for tests: every phase of both systems, on the shipped policy. */
import { type EvolveConfig, evolveSchema } from '../../src/recipe/config.ts';
import { evolve } from '../../src/recipe/evolve.ts';
import { openPolicyEngine, policyDir } from '../../src/recipe/policies.ts';
import { withMatcher } from '../../src/recipe/run-matcher.ts';
import { openTask } from '../../src/recipe/task.ts';
import { openRun } from '../../src/store/run.ts';

export const tinyConfig = (over: Partial<EvolveConfig> = {}): EvolveConfig =>
  evolveSchema.parse({
    task: { kind: 'world', seed: 5, unverifiable: 0.25, firstRank: 0.75, miss: 0.03, wordings: 3, goldPerHop: 3 },
    policy: 'mini',
    systems: ['dr-zero', 'crossfit'],
    seed: 3,
    rounds: 2,
    sources: 20,
    sourcePool: 'recurring',
    hopMix: '4:3:2:1',
    proposerSteps: 2,
    prompts: 8,
    admitted: 12,
    solverSteps: 2,
    questions: 4,
    auxiliarySteps: 2,
    responses: 3,
    temperature: 1,
    topP: 1,
    estimator: 'hrpo',
    difficulty: 'linear',
    formatWeight: 0.5,
    gate: 'zero',
    lossMean: 'sequence',
    matcher: 'exact',
    topK: 2,
    proposerRate: 1e-3,
    solverRate: 1e-3,
    warmupSteps: 2,
    weightDecay: 0.01,
    gradClip: 1,
    workers: 2,
    ...over,
  });

export async function runTiny(dir: string, over: Partial<EvolveConfig> = {}): Promise<void> {
  const config = tinyConfig(over);
  const run = await openRun(dir, { recipe: 'evolve', config, seed: config.seed, codeVersion: 'test', parents: [] });
  try {
    const engine = await openPolicyEngine(policyDir(config.policy), run.blobs, config.workers);
    try {
      const task = await openTask(config, engine.tokenizer);
      const { signal } = new AbortController();
      await withMatcher(config, { note: () => {}, warn: () => {} }, async (matcherIn) =>
        evolve({ config, run, engine, task, matcher: await matcherIn(dir), report: () => {}, signal }),
      );
    } finally {
      await engine.close();
    }
  } finally {
    await run.close();
  }
}
