/** Pre-training of `mini`: its model, its plan, and what is measured on worlds it never saw. */

import type { ModelConfig } from '../../engine/local/qwen3.ts';
import type { Engine } from '../../engine.ts';
import { converse, type Environment } from '../../rollout/converse.ts';
import { compact } from '../../text/dialect/compact.ts';
import type { Hops, Rollout } from '../../types.ts';
import { rng } from '../../util/rng.ts';
import { parseQuestion, pickWording, sampleChain, truth, writeQuestion } from '../../world/question.ts';
import { worldRetriever } from '../../world/search.ts';
import { VOCABULARY } from '../../world/vocabulary.ts';
import { generateWorld, type World } from '../../world/world.ts';
import { miniExamples } from './mini-examples.ts';
import type { PretrainPlan, PretrainTask } from './pretrain.ts';

export const MINI_MODEL: ModelConfig = {
  vocabSize: VOCABULARY.length,
  hiddenSize: 96,
  layers: 4,
  heads: 4,
  kvHeads: 4,
  headDim: 32,
  ffSize: 256,
  contextLength: 320,
  ropeTheta: 10000,
  embeddingRate: 20,
};

export const MINI_PLAN: PretrainPlan = {
  seed: 1,
  totalTokens: 10_000_000,
  chunkTokens: 250_000,
  batchTokens: 2048,
  learningRate: 3e-3,
  muonRate: 0.02,
  probeEvery: 4,
};

/** Unverifiable share of the pre-training worlds. */
export const MINI_WORLD = { unverifiable: 0.2 } as const;
const HOPS: readonly Hops[] = [1, 2, 3, 4];
/** Evaluation worlds: no training world has these seeds. */
const PROBE_WORLD = 7;

export const miniTask = (engine: Engine, perHop = 60): PretrainTask => ({
  examples: (key, progress) => miniExamples(key, progress, Number.POSITIVE_INFINITY, MINI_WORLD),
  probe: async (policy) => probeMini(engine, policy, generateWorld({ seed: PROBE_WORLD, ...MINI_WORLD }), perHop),
});

const turn = { turns: 5, tokensPerTurn: 24, contextLength: MINI_MODEL.contextLength };
export const miniLimits = { proposer: turn, solver: turn } as const;

/** Shares by role and hop at temperature 1: `S1` solver right, `P1` label right, `S1ok`/`P1ok` well-formed. */
export async function probeMini(
  engine: Engine,
  policyId: string,
  world: World,
  perHop: number,
): Promise<Record<string, number>> {
  const env: Environment = {
    policy: await engine.policy(policyId),
    tokenizer: engine.tokenizer,
    dialect: compact,
    retriever: worldRetriever(world),
    topK: 2,
    limits: miniLimits.solver,
    sampling: { temperature: 1, topP: 1 },
  };
  const out: Record<string, number> = {};
  const share = (rollouts: readonly Rollout[], good: (r: Rollout, i: number) => boolean): number =>
    Math.round((1000 * rollouts.filter(good).length) / rollouts.length) / 1000;
  for (const hops of HOPS) {
    const r = rng('probe', world.options.seed, hops);
    const questions = Array.from({ length: perHop }, () => {
      const chain = sampleChain(world, r, hops);
      const words = chain.relations.map((relation) => pickWording(world, r, relation));
      return writeQuestion(world.entities[chain.path[0]!]!.name, words);
    });
    const solved = await converse(
      questions.map((question, i) => ({
        prompt: compact.solverPrompt(question),
        question,
        key: `probe/s${hops}/${i}`,
      })),
      env,
    );
    const proposed = await converse(
      questions.map((_, i) => ({
        prompt: compact.proposerPrompt(r.pick(world.sources), hops),
        question: null,
        key: `probe/p${hops}/${i}`,
      })),
      env,
    );
    const asked = (p: Rollout): number => parseQuestion(p.question ?? '')?.relations.length ?? 0;
    out[`S${hops}`] = share(solved, (s, i) => s.answer !== null && s.answer === truth(world, questions[i]!));
    out[`S${hops}ok`] = share(solved, (s) => s.stop === 'answer');
    out[`P${hops}`] = share(proposed, (p) => p.answer !== null && p.answer === truth(world, p.question ?? ''));
    out[`P${hops}ok`] = share(proposed, (p) => asked(p) === hops);
  }
  return out;
}
