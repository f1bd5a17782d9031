/** An index as the command line builds it: the encoder opened by its name, and one builder a folder. */
import { dirname } from 'node:path';
import { type BuildOptions, type BuiltIndex, buildIndex } from '../retriever/index/build.ts';
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
  const release = acquireLock(`${out}.lock`, '--out');
  try {
    return await buildIndex({ ...options, out, ...encoder });
  } finally {
    release();
  }
}

/** A manifest is passed around: names and passwords in a URL stay out of it. */
const withoutSecrets = (spec: string): string => spec.replace(/^(https?:\/\/)[^/@#]*@/i, '$1');
