/**
 * Builds an index folder in one pass over the corpus. Memory holds the words, the ids and one block of postings, never the
 * corpus: passages are written as they come, postings are spilled and merged (index/runs).
 */
import { join } from 'node:path';
import type { Encoder } from '../../retriever.ts';
import { codeOf, diskError, makeFolder } from '../../util/disk.ts';
import { Interrupted, UserError } from '../../util/error.ts';
import { analyzer } from '../analyze.ts';
import { type Collector, collector } from '../bm25/collect.ts';
import { corpusHash } from '../bm25/digest.ts';
import { type Bm25Options, type Bm25Settings, bm25Settings, fieldText } from '../bm25/settings.ts';
import { passagesOf } from '../corpus/passages.ts';
import { readSources } from '../corpus/read.ts';
import { indexReaders } from '../corpus/readers.ts';
import { type CorpusReport, newReport } from '../corpus/report.ts';
import { buildDense } from '../dense/build.ts';
import type { DenseManifest } from '../dense/manifest.ts';
import { buildingOf } from './check.ts';
import { openBuildFolder } from './folder.ts';
import { files, type IndexManifest, indexFormat } from './manifest.ts';
import { openPassages, writePassages } from './passages.ts';
import { mergeRuns, type Run, writeRun } from './runs.ts';
import { writeWords } from './words.ts';

/** Bytes of the files, postings, or passages to encode. */
export interface BuildProgress {
  readonly phase: 'reading' | 'merging' | 'encoding' | 'graph';
  readonly done: number;
  readonly total: number;
}

export interface BuildOptions extends Bm25Options {
  /** Files and folders. */
  readonly inputs: readonly string[];
  readonly out: string;
  /** Aim of the cutter; 0 keeps every document whole. Default 100. */
  readonly words?: number;
  /** The first document that cannot be used is an error. */
  readonly strict?: boolean;
  readonly encoder?: Encoder;
  /** How the command line opens the encoder again. */
  readonly encoderSpec?: string;
  /** A graph for approximate search beside the vectors. */
  readonly ann?: boolean;
  /** Version of Crossfold. */
  readonly version: string;
  /** The command that starts this build: told to whoever opens an unfinished index. */
  readonly command: string;
  readonly signal?: AbortSignal;
  progress?(progress: BuildProgress): void;
}

export interface BuiltIndex {
  readonly manifest: IndexManifest;
  readonly report: CorpusReport;
}

/** Postings held in memory before they are spilled. */
const block = 1 << 23;

/** @throws UserError for bad options, paths and corpora; InfraError when disk or encoder fail; Interrupted on `signal`. */
export async function buildIndex(options: BuildOptions): Promise<BuiltIndex> {
  const { inputs, out, words = 100, strict = false, encoder, encoderSpec = null } = options;
  if (!(Number.isInteger(words) && words >= 0 && (words === 0 || words >= 10)))
    throw new UserError(`words is ${words}; expected a whole number of at least 10 (try 100), or 0 to cut nothing`);
  const settings = bm25Settings(options);
  const report = newReport({ strict });
  const folder = await openBuildFolder(out, options.command, encoder !== undefined);
  try {
    const sparse = await buildBm25(folder.path, options, words, settings, report);
    const dense = encoder === undefined ? null : await buildVectors(folder.path, options, encoder, sparse);
    const manifest = await folder.finish({
      format: indexFormat,
      crossfold: options.version,
      corpus: sparse.corpus,
      passages: sparse.passages,
      sources: report.sources,
      inputs: [...inputs],
      chunking: { words },
      analyzer,
      ...settings,
      words: sparse.words,
      postings: sparse.postings,
      dense,
      encoderSpec: encoder === undefined ? null : encoderSpec,
    });
    return { manifest, report };
  } catch (error) {
    if (error instanceof UserError) await folder.discard();
    throw codeOf(error) === 'unknown' || error instanceof UserError ? error : diskError(out, 'write', error);
  }
}

interface Sparse {
  readonly corpus: string;
  readonly passages: number;
  readonly words: number;
  readonly postings: number;
}

async function buildBm25(
  dir: string,
  options: BuildOptions,
  words: number,
  settings: Bm25Settings,
  report: CorpusReport,
): Promise<Sparse> {
  const hash = corpusHash();
  const collected = collector();
  const runs: Run[] = [];
  const spill = (): void => {
    runs.push(writeRun(join(dir, `run-${runs.length}.tmp`), collected.take()));
  };
  const stopped = stopper(options);
  const writer = await writePassages(dir);
  const read = { readers: indexReaders, except: [options.out, buildingOf(options.out)] };
  let passages = 0;
  try {
    for await (const source of readSources(options.inputs, report, read)) {
      for (const passage of passagesOf(source, { words })) {
        hash.add(passage);
        collected.add(fieldText[settings.fields](passage));
        await writer.add(passage);
        passages++;
      }
      if (collected.pending >= block) spill();
      stopped({ phase: 'reading', done: report.bytes, total: report.totalBytes });
    }
    await writer.finish();
  } finally {
    await writer.close();
  }
  spill();
  writeWords(dir, collected.words);
  const postings = await merge(dir, runs, collected, settings, stopped);
  return { corpus: hash.digest(), passages, words: collected.words.size, postings };
}

const merge = (
  dir: string,
  runs: readonly Run[],
  { words, lengths }: Collector,
  settings: Bm25Settings,
  stopped: (progress: BuildProgress) => void,
): Promise<number> => {
  const total = runs.reduce((sum, run) => sum + run.postings, 0);
  const progress = (done: number): void => stopped({ phase: 'merging', done, total });
  return mergeRuns({ dir, runs, words: words.size, lengths: lengths.done(), settings, progress });
};

async function buildVectors(
  dir: string,
  options: BuildOptions,
  encoder: Encoder,
  { corpus, passages: size }: Sparse,
): Promise<DenseManifest> {
  const folder = join(dir, files.dense);
  await makeFolder(folder);
  const stopped = stopper(options);
  const passages = await openPassages(dir, size);
  try {
    const progress = (done: number, total: number, phase: 'encoding' | 'graph'): void =>
      stopped({ phase, done, total });
    return await buildDense({ dir: folder, passages, encoder, ann: options.ann === true, corpus, progress });
  } finally {
    await passages.close();
  }
}

/** Tells the progress, and stops where a stop was asked for. */
const stopper =
  ({ signal, progress }: BuildOptions) =>
  (now: BuildProgress): void => {
    if (signal?.aborted) throw new Interrupted('the index is not finished');
    progress?.(now);
  };
