/** An index as the command line builds it: the encoder opened by its name, and one builder a folder. */
import { dirname } from 'node:path';
import { type BuildOptions, type BuiltIndex, buildIndex } from '../retriever/index/build.ts';
import { readManifest } from '../retriever/index/check.ts';
import { type OpenIndex, openIndex, type SearchMode } from '../retriever/index/open.ts';
import { acquireLock } from '../store/lock.ts';
import { makeFolder } from '../util/disk.ts';
import { openEncoder } from './encoder.ts';

export type IndexRequest = Omit<BuildOptions, 'encoder' | 'encoderSpec'> & {
  /** As in recipe/encoder. */
  readonly encoder?: string;
};

export async function buildIndexLocked({ encoder: spec, ...options }: IndexRequest): Promise<BuiltIndex> {
  const out = options.out.replace(/[/\\]+$/, '');
  const encoder = spec === undefined ? {} : { encoder: await openEncoder(spec), encoderSpec: withoutSecrets(spec) };
  await makeFolder(dirname(out));
  const release = acquireLock(`${out}.lock`);
  try {
    return await buildIndex({ ...options, out, ...encoder });
  } finally {
    release();
  }
}

/** The index of `dir` with the encoder it was built with, opened by the spec in its manifest, or by `spec`. */
export async function openIndexFor(dir: string, mode?: SearchMode, spec?: string): Promise<OpenIndex> {
  const manifest = await readManifest(dir);
  const wanted = mode ?? (manifest.dense === null ? 'bm25' : 'hybrid');
  if (wanted === 'bm25') return openIndex(dir, { mode: wanted });
  const by = spec ?? manifest.encoderSpec;
  // Without vectors or encoder, openIndex says what is missing.
  const encoder = manifest.dense === null || by === null ? {} : { encoder: await openEncoder(by) };
  return openIndex(dir, { mode: wanted, ...encoder });
}

/** A manifest is passed around: names and passwords in a URL stay out of it. */
const withoutSecrets = (spec: string): string => spec.replace(/^(https?:\/\/)[^/@#]*@/i, '$1');
