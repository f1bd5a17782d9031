/**
 * One exam of one policy with one strategy, as a run: greedy, one attempt a question, resumable. Its folder ends with
 * rollouts.jsonl (what was said and found, as text), results.jsonl and, last, result.json.
 */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { writeEvaluation } from '../benchmark/files.ts';
import { type Manifest, manifestOf } from '../benchmark/manifest.ts';
import { type EvaluationResult, type ExamQuestion, evaluationOf, type Fingerprint } from '../benchmark/result.ts';
import { attemptsOf, type ExamProgress, type ExamRun, takeExam } from '../benchmark/run.ts';
import type { Engine, Policy } from '../engine.ts';
import type { Retriever } from '../retriever.ts';
import { chatOf } from '../rollout/chat.ts';
import type { Run } from '../store/run.ts';
import { openStrategy, type StrategyName } from '../strategy/open.ts';
import type { Budget } from '../strategy.ts';
import { dialectFor, type GeneralDialect } from '../text/dialect/fit.ts';
import { miniLimits } from '../train/pretrain/mini-task.ts';
import { readerLimits } from '../train/pretrain/reader-task.ts';
import { diskError } from '../util/disk.ts';
import { openAppender } from '../util/jsonl.ts';

export const DEFAULT_BUDGET = { turns: 5, topK: 3 } as const;

/** Our policies were trained with as many. */
const TRAINED: Readonly<Record<string, number>> = {
  compact: miniLimits.solver.tokensPerTurn,
  cloze: readerLimits.solver.tokensPerTurn,
};

/** As in the papers, or what a smaller model has room for beside what it reads. */
export function defaultMaxTokens({ tokenizer, contextLength }: Pick<Engine, 'tokenizer' | 'contextLength'>): number {
  return TRAINED[dialectFor(tokenizer, 'search-r1').name] ?? Math.min(512, Math.floor(contextLength / 6));
}

/** Questions at once: replies of the local engine depend on their batch, and what it keeps for them must fit in memory. */
const BATCH = { local: 64, server: 128 } as const;

export interface Examinee {
  readonly engine: Engine;
  readonly policy: Policy;
  readonly kind: keyof typeof BATCH;
  readonly retriever: Retriever;
  readonly strategy: StrategyName;
  readonly budget: Budget;
  /** Of general models, for strategy `search`. */
  readonly dialect: GeneralDialect;
}

/** What the results depend on: two evaluations are compared by it. */
export function fingerprintOf(examinee: Examinee, { hash, questions }: Manifest): Fingerprint {
  const { engine, policy, retriever, strategy, budget, dialect } = examinee;
  return {
    policy: policy.id,
    engine: engine.fingerprint,
    strategy: strategy === 'search' ? `search ${dialectFor(engine.tokenizer, dialect).name}` : strategy,
    index: retriever.fingerprint,
    topK: budget.topK,
    turns: budget.turns,
    maxTokens: budget.maxTokens,
    decoding: 'greedy',
    manifest: hash,
    questions: questions.length,
  };
}

/** For run.json: a folder goes on only with the very same. */
export const configOf = (examinee: Examinee, manifest: Manifest): Fingerprint => ({
  ...fingerprintOf(examinee, manifest),
  batch: BATCH[examinee.kind],
});

/** At most `limit` questions of each set, the first ones. */
export function limited(manifest: Manifest, limit: number | undefined): Manifest {
  if (limit === undefined) return manifest;
  const taken = new Map<string, number>();
  const fits = ({ set }: ExamQuestion): boolean => {
    const n = (taken.get(set) ?? 0) + 1;
    taken.set(set, n);
    return n <= limit;
  };
  return manifestOf(manifest.questions.filter(fits));
}

/** Goes on where an earlier run in the same folder stopped; what that one lost is tried again. */
export async function evaluate(
  examinee: Examinee,
  manifest: Manifest,
  run: Run,
  report: (progress: ExamProgress) => void,
  signal: AbortSignal,
): Promise<EvaluationResult> {
  const { engine, policy, kind, retriever, strategy, budget, dialect } = examinee;
  const exam = await takeExam({
    questions: manifest.questions,
    strategy: openStrategy(strategy, {
      policy,
      chat: chatOf(engine, policy),
      tokenizer: engine.tokenizer,
      contextLength: engine.contextLength,
      dialect: dialectFor(engine.tokenizer, dialect),
      retriever,
      budget,
      eager: kind === 'server',
    }),
    batch: BATCH[kind],
    scope: run,
    signal,
    report,
  });
  await writeRollouts(join(run.dir, 'rollouts.jsonl'), exam, run);
  const result = evaluationOf(fingerprintOf(examinee, manifest), exam.items, manifest.questions);
  await writeEvaluation(run.dir, result);
  return result;
}

/** One line a question, without tokens: those are in the blobs. */
async function writeRollouts(file: string, exam: ExamRun, { blobs }: Run): Promise<void> {
  const temporary = `${file}.unfinished`;
  const lines = await openAppender(temporary, 0);
  try {
    for await (const { rollout: _, ...attempt } of attemptsOf(exam, blobs)) await lines.append(JSON.stringify(attempt));
  } finally {
    await lines.close();
  }
  await rename(temporary, file).catch((error) => {
    throw diskError(file, 'write', error);
  });
}
