/** `pretrain`: makes a base policy as an ordinary Hugging Face directory, with the command, seed and log that made it. */
import { join } from 'node:path';
import { writeCheckpoint } from '../engine/local/checkpoint.ts';
import { initialWeights } from '../engine/local/init.ts';
import { openLocalEngine } from '../engine/local/local.ts';
import { layoutOf, type ModelConfig } from '../engine/local/qwen3.ts';
import { decodeSafetensors } from '../engine/local/safetensors.ts';
import type { Engine, Tokenizer } from '../engine.ts';
import type { Run, RunSpec } from '../store/run.ts';
import type { TokenizerFiles } from '../text/bpe.ts';
import { tokenizerFrom } from '../text/tokenizer.ts';
import { MINI_MODEL, MINI_PLAN, miniTask } from '../train/pretrain/mini-task.ts';
import {
  type ChunkListener,
  type ChunkRecord,
  type PretrainPlan,
  type PretrainTask,
  pretrain,
} from '../train/pretrain/pretrain.ts';
import { readerCorpus, readerTokenizer } from '../train/pretrain/reader-corpus.ts';
import { READER_MODEL, READER_PLAN, readerTask } from '../train/pretrain/reader-task.ts';
import { makeFolder, replaceFile } from '../util/disk.ts';
import { tokenizerConfig, tokenizerJson } from '../world/vocabulary.ts';
import type { PolicyName } from './policies.ts';
import { readerProbes, readerText, type TextPlace } from './reader-text.ts';

export interface PretrainOptions {
  readonly policy: PolicyName;
  /** What `reader` learns from; null for `mini`. */
  readonly text: TextPlace | null;
  readonly plan: Partial<PretrainPlan>;
  readonly workers: number;
}

/** What is known before anything is trained. */
export interface Pretraining extends PretrainOptions {
  readonly plan: PretrainPlan;
  readonly model: ModelConfig;
  readonly tokenizer: TokenizerFiles;
  task(engine: Engine): PretrainTask;
}

type Prepared = Pick<Pretraining, 'model' | 'plan' | 'tokenizer' | 'task'>;

const PREPARE: Readonly<
  Record<PolicyName, (text: TextPlace | null, warn: (text: string) => void) => Promise<Prepared>>
> = {
  mini: async () => ({
    model: MINI_MODEL,
    plan: MINI_PLAN,
    tokenizer: {
      'tokenizer.json': tokenizerJson(),
      'tokenizer_config.json': tokenizerConfig(MINI_MODEL.contextLength),
    },
    task: (engine) => miniTask(engine),
  }),
  async reader(text, warn) {
    const read = await readerText(text, warn);
    const tokenizer = readerTokenizer(read.sets);
    const encode = tokenizerOf(tokenizer);
    const corpus = readerCorpus(read.sets, encode, 'train', read.barred);
    const probes = readerProbes(read, corpus);
    return {
      model: { ...READER_MODEL, vocabSize: encode.vocabSize },
      plan: READER_PLAN,
      tokenizer,
      task: (engine) => readerTask(engine, corpus, probes),
    };
  },
};

const tokenizerOf = (files: TokenizerFiles): Tokenizer =>
  tokenizerFrom(files['tokenizer.json'], files['tokenizer_config.json']);

/** Reads the text and makes the vocabulary. @throws UserError when the text is missing or of no use. */
export async function preparePretraining(options: PretrainOptions, warn: (text: string) => void): Promise<Pretraining> {
  const prepared = await PREPARE[options.policy](options.text, warn);
  return { ...options, ...prepared, plan: { ...prepared.plan, ...options.plan } };
}

export const pretrainSpec = ({ policy, model, plan, text, workers }: Pretraining, codeVersion: string): RunSpec => ({
  recipe: 'pretrain',
  config: { policy, model, plan, text, workers },
  seed: plan.seed,
  codeVersion,
  parents: [],
});

export interface Making {
  readonly run: Run;
  /** Folder of the finished policy. */
  readonly out: string;
  /** For pretrain.json. */
  readonly command: string;
  readonly version: string;
  readonly report: ChunkListener;
  readonly signal: AbortSignal;
}

/**
 * Trains, or goes on where the run stopped, and writes the policy with the log of its training. Returns the record of the
 * last chunk. @throws Interrupted between two chunks
 */
export async function pretrainPolicy(
  { policy, plan, model, tokenizer, workers, task }: Pretraining,
  { run, out, command, version, report, signal }: Making,
): Promise<ChunkRecord> {
  // Before the training: a folder that cannot be made should not cost it.
  await makeFolder(out);
  const engine = await openLocalEngine({
    config: model,
    weights: initialWeights(model, plan.seed),
    tokenizer: tokenizerOf(tokenizer),
    blobs: run.blobs,
    workers,
  });
  try {
    const records: ChunkRecord[] = [];
    const keep: ChunkListener = (record, ...rest) => {
      records.push(record);
      report(record, ...rest);
    };
    const state = await pretrain(engine, run, plan, task(engine), keep, signal);
    const weights = decodeSafetensors(layoutOf(model), await run.blobs.get(state.policy), 'the trained policy');
    const about = { command, policy, plan, workers, version };
    const log = records.map(({ state: _, ...figures }, chunk) => JSON.stringify({ chunk, ...figures }));
    for (const [name, json] of Object.entries(tokenizer)) {
      await replaceFile(join(out, name), `${JSON.stringify(json)}\n`);
    }
    await replaceFile(join(out, 'pretrain.json'), `${JSON.stringify(about, null, 2)}\n`);
    await replaceFile(join(out, 'pretrain-log.jsonl'), `${log.join('\n')}\n`);
    await writeCheckpoint(out, { config: model, weights });
    return records.at(-1)!;
  } finally {
    await engine.close();
  }
}
