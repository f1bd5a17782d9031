/** `pretrain`: makes a base policy as an ordinary Hugging Face directory, with the command, seed and log that made it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeCheckpoint } from '../engine/local/checkpoint.ts';
import { initialWeights } from '../engine/local/init.ts';
import { openLocalEngine } from '../engine/local/local.ts';
import { layoutOf, type ModelConfig } from '../engine/local/qwen3.ts';
import { decodeSafetensors } from '../engine/local/safetensors.ts';
import type { Engine } from '../engine.ts';
import { openRun } from '../store/run.ts';
import type { TokenizerFiles } from '../text/bpe.ts';
import { tokenizerFrom } from '../text/tokenizer.ts';
import { MINI_MODEL, MINI_PLAN, miniTask } from '../train/pretrain/mini-task.ts';
import { type ChunkRecord, type PretrainPlan, type PretrainTask, pretrain } from '../train/pretrain/pretrain.ts';
import { readerCorpus, readerTokenizer } from '../train/pretrain/reader-corpus.ts';
import { READER_MODEL, READER_PLAN, readerTask } from '../train/pretrain/reader-task.ts';
import { tokenizerConfig, tokenizerJson } from '../world/vocabulary.ts';
import { type ReaderText, readerText } from './reader-text.ts';

export type PolicyName = 'mini' | 'reader';

export interface PretrainOptions {
  readonly policy: PolicyName;
  /** Run folder: journal and checkpoints. */
  readonly run: string;
  /** The finished policy goes here. */
  readonly out: string;
  /** reader: a folder of corpora in this project's layout, or of documents. */
  readonly text: { readonly kind: 'corpora' | 'docs'; readonly path: string } | null;
  readonly plan: Partial<PretrainPlan>;
  readonly workers: number;
  readonly codeVersion: string;
  /** Written to pretrain.json. */
  readonly command: string;
}

interface Prepared {
  readonly model: ModelConfig;
  readonly plan: PretrainPlan;
  readonly tokenizer: TokenizerFiles;
  task(engine: Engine): PretrainTask;
}

const PREPARE: Readonly<Record<PolicyName, (options: PretrainOptions) => Promise<Prepared>>> = {
  mini: async () => ({
    model: MINI_MODEL,
    plan: MINI_PLAN,
    tokenizer: {
      'tokenizer.json': tokenizerJson(),
      'tokenizer_config.json': tokenizerConfig(MINI_MODEL.contextLength),
    },
    task: (engine) => miniTask(engine),
  }),
  async reader({ text }) {
    const { sets, barred, extraProbes }: ReaderText = await readerText(text);
    const tokenizer = readerTokenizer(sets);
    const encode = tokenizerFrom(tokenizer['tokenizer.json'], tokenizer['tokenizer_config.json']);
    const corpus = readerCorpus(sets, encode, 'train', barred);
    const held = readerCorpus(sets, encode, 'heldOut');
    const probes = [
      ...held.parts.map((part, i) => ({
        name: part.name,
        index: [...corpus.parts[i]!.passages, ...part.passages],
        from: part.askable.map((k) => part.passages[k]!),
      })),
      ...readerCorpus(extraProbes, encode, 'heldOut').parts.map((part) => ({
        name: part.name,
        index: part.passages,
        from: part.askable.map((k) => part.passages[k]!),
      })),
    ];
    return {
      model: { ...READER_MODEL, vocabSize: encode.vocabSize },
      plan: READER_PLAN,
      tokenizer,
      task: (engine) => readerTask(engine, corpus, probes),
    };
  },
};

export async function pretrainPolicy(
  options: PretrainOptions,
  report: (record: ChunkRecord, chunk: number, chunks: number) => void,
): Promise<void> {
  const prepared = await PREPARE[options.policy](options);
  const plan = { ...prepared.plan, ...options.plan };
  const { model, tokenizer } = prepared;
  const run = await openRun(options.run, {
    recipe: 'pretrain',
    config: { policy: options.policy, model, plan, text: options.text, workers: options.workers },
    seed: plan.seed,
    codeVersion: options.codeVersion,
    parents: [],
  });
  try {
    const engine = await openLocalEngine({
      config: model,
      weights: initialWeights(model, plan.seed),
      tokenizer: tokenizerFrom(tokenizer['tokenizer.json'], tokenizer['tokenizer_config.json']),
      blobs: run.blobs,
      workers: options.workers,
    });
    try {
      const log: string[] = [];
      const state = await pretrain(engine, run, plan, prepared.task(engine), (record, chunk, chunks) => {
        const { state: _, ...figures } = record;
        log.push(JSON.stringify({ chunk, ...figures }));
        report(record, chunk, chunks);
      });
      await mkdir(options.out, { recursive: true });
      for (const [name, json] of Object.entries(tokenizer)) {
        await writeFile(join(options.out, name), `${JSON.stringify(json)}\n`);
      }
      const about = {
        command: options.command,
        policy: options.policy,
        plan,
        workers: options.workers,
        version: options.codeVersion,
      };
      await writeFile(join(options.out, 'pretrain.json'), `${JSON.stringify(about, null, 2)}\n`);
      await writeFile(join(options.out, 'pretrain-log.jsonl'), `${log.join('\n')}\n`);
      const weights = decodeSafetensors(layoutOf(model), await run.blobs.get(state.policy), 'the trained policy');
      await writeCheckpoint(options.out, { config: model, weights });
    } finally {
      await engine.close();
    }
  } finally {
    await run.close();
  }
}
