/** What a person names to search in: the folder of an index, or the address of a search server. */
import type { ClosableRetriever } from '../retriever/http/client.ts';
import { openHttpRetriever } from '../retriever/http/open.ts';
import { readManifest } from '../retriever/index/check.ts';
import { type OpenIndex, openIndex, type SearchMode } from '../retriever/index/open.ts';
import { UserError } from '../util/error.ts';
import { openEncoder } from './encoder.ts';

export interface SearchOptions {
  /** Default: hybrid with an encoder, else bm25. */
  readonly mode?: SearchMode;
  /** As openEncoder reads it. */
  readonly encoder?: string;
}

const isServer = (spec: string): boolean => /^https?:\/\//i.test(spec);

/**
 * @param spec `http(s)://host:port` (ours, or any that speaks Search-R1's /retrieve) or the folder of an index.
 * @throws UserError when there is nothing to search in; InfraError when a server is down.
 */
export async function openRetriever(spec: string, options: SearchOptions = {}): Promise<ClosableRetriever> {
  if (!isServer(spec)) return openSearchIndex(spec, options);
  const own = Object.entries(options).find(([, value]) => value !== undefined);
  if (own !== undefined)
    throw new UserError(`--${own[0]} is "${own[1]}", but ${spec} is a server and searches its own way; leave it out`);
  return openHttpRetriever({ url: spec });
}

/** A folder only. Vectors that are asked for without an encoder are searched with the one the index was built with. */
export async function openSearchIndex(dir: string, { mode, encoder }: SearchOptions = {}): Promise<OpenIndex> {
  if (isServer(dir))
    throw new UserError(
      '--index is the address of a server, and only a folder can be opened here; give the folder that "crossfold index" made',
    );
  const wordsOnly = mode === undefined || mode === 'bm25';
  const spec = encoder ?? (wordsOnly ? null : (await readManifest(dir)).encoderSpec);
  return openIndex(dir, {
    ...(mode === undefined ? {} : { mode }),
    ...(spec === null ? {} : { encoder: await openEncoder(spec) }),
  });
}
