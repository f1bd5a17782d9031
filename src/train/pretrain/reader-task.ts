/** Pre-training of `reader`: its model, its plan, and what is measured on text it never saw. */

import type { ModelConfig } from '../../engine/local/qwen3.ts';
import type { Engine } from '../../engine.ts';
import { answerKey } from '../../matcher/exact.ts';
import { bm25 } from '../../retriever/bm25.ts';
import { converse, type Environment } from '../../rollout/converse.ts';
import { alignBlank } from '../../text/cloze/align.ts';
import { clozeQuestions } from '../../text/cloze/questions.ts';
import { cloze } from '../../text/dialect/cloze.ts';
import type { Passage } from '../../types.ts';
import { rng } from '../../util/rng.ts';
import type { PretrainPlan, PretrainTask } from './pretrain.ts';
import type { ReaderCorpus } from './reader-corpus.ts';
import { readerExamples } from './reader-examples.ts';

export const READER_MODEL: Omit<ModelConfig, 'vocabSize'> = {
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 4,
  headDim: 32,
  ffSize: 384,
  contextLength: 384,
  ropeTheta: 10000,
  embeddingRate: 20,
};

export const READER_PLAN: PretrainPlan = {
  seed: 1,
  totalTokens: 14_000_000,
  chunkTokens: 200_000,
  batchTokens: 2048,
  learningRate: 3e-3,
  muonRate: 0.02,
  probeEvery: 5,
};

/** A written cloze is a sentence; an answer is a few words. */
export const readerLimits = {
  proposer: { turns: 2, tokensPerTurn: 80, contextLength: READER_MODEL.contextLength },
  solver: { turns: 3, tokensPerTurn: 20, contextLength: READER_MODEL.contextLength },
} as const;

/** A corpus to measure on: its passages are the search index. */
export interface ReaderProbe {
  readonly name: string;
  readonly index: readonly Passage[];
  /** Passages that questions and proposals are drawn from. */
  readonly from: readonly Passage[];
}

export const readerTask = (
  engine: Engine,
  corpus: ReaderCorpus,
  probes: readonly ReaderProbe[],
  count = 100,
): PretrainTask => ({
  examples: (key, progress) => readerExamples(corpus, key, progress, Number.POSITIVE_INFINITY),
  async probe(policy) {
    const out: Record<string, number> = {};
    for (const probe of probes) Object.assign(out, await probeReader(engine, policy, probe, count));
    return out;
  },
});

/**
 * Per corpus: `em` exact match of greedy answers after BM25 search; `w` share of well-formed proposals at temperature 1 and
 * `span` the share of those whose label is the span that fills the blank.
 */
export async function probeReader(
  engine: Engine,
  policyId: string,
  { name, index, from }: ReaderProbe,
  count: number,
): Promise<Record<string, number>> {
  const greedy: Environment = {
    policy: await engine.policy(policyId),
    tokenizer: engine.tokenizer,
    dialect: cloze,
    retriever: bm25(index),
    topK: 3,
    limits: readerLimits.solver,
    sampling: { temperature: 0, topP: 1 },
  };
  const questions = clozeQuestions(from, count, 'probe');
  const solved = await converse(
    questions.map(({ question }, i) => ({ prompt: cloze.solverPrompt(question), question, key: `probe/s/${i}` })),
    greedy,
  );
  const right = solved.filter((s, i) => s.answer !== null && answerKey(s.answer) === answerKey(questions[i]!.answer));
  const sources = rng('probe', name).shuffle(from).slice(0, count);
  const written = await converse(
    sources.map((passage, i) => ({ prompt: cloze.proposerPrompt(passage, 1), question: null, key: `probe/p/${i}` })),
    { ...greedy, limits: readerLimits.proposer, sampling: { temperature: 1, topP: 1 } },
  );
  const formed = written.flatMap((p, i) => (p.question === null || p.answer === null ? [] : [{ p, i }]));
  const spans = formed.filter(({ p, i }) => {
    const aligned = alignBlank(p.question!, [sources[i]!.text]);
    return aligned.found && answerKey(aligned.span) === answerKey(p.answer!);
  });
  const share = (n: number, of: number): number => (of === 0 ? 0 : Math.round((1000 * n) / of) / 1000);
  return {
    [`${name}_em`]: share(right.length, solved.length),
    [`${name}_w`]: share(formed.length, written.length),
    [`${name}_span`]: share(spans.length, formed.length),
  };
}
