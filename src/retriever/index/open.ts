/** Opens an index folder: the manifest is checked against the files, then arrays are read as they are. */
import { join } from 'node:path';
import type { Encoder, Hit, PassageStore, Ranker, Retriever } from '../../retriever.ts';
import { UserError } from '../../util/error.ts';
import { analyzer } from '../analyze.ts';
import { bm25Fingerprint } from '../bm25/settings.ts';
import { bm25Ranker } from '../bm25.ts';
import { openDense } from '../dense/open.ts';
import { fuse } from '../fuse.ts';
import { readManifest } from './check.ts';
import { checkSums } from './checksum.ts';
import { files, type IndexManifest } from './manifest.ts';
import { openPassages } from './passages.ts';
import { readF32, readU32 } from './raw.ts';
import { openWords } from './words.ts';

export type { IndexManifest } from './manifest.ts';

export type SearchMode = 'bm25' | 'dense' | 'hybrid';

export interface OpenOptions {
  /** Default: hybrid with an encoder, else bm25. */
  readonly mode?: SearchMode;
  /** Needed for dense and hybrid: the one the index was built with. */
  readonly encoder?: Encoder;
}

export interface OpenIndex extends Retriever {
  readonly manifest: IndexManifest;
  readonly passages: PassageStore;
  close(): Promise<void>;
}

/** @throws UserError when there is no whole index in `dir`, when it was damaged, or when the encoder is not its own. */
export async function openIndex(dir: string, options: OpenOptions = {}): Promise<OpenIndex> {
  const { encoder, mode = encoder === undefined ? 'bm25' : 'hybrid' } = options;
  const manifest = await readManifest(dir);
  if (manifest.analyzer !== analyzer)
    throw new UserError(
      `${dir}: its words were cut by "${manifest.analyzer}", this version cuts by "${analyzer}"; build the index again`,
    );
  await checkSums(dir, manifest);
  const ranker = await rankers[mode](dir, manifest, encoder);
  const passages = await openPassages(dir, manifest.passages);
  return {
    fingerprint: ranker.fingerprint,
    manifest,
    passages,
    async search(queries, k) {
      const ranked = await ranker.rank(queries, k);
      return Promise.all(
        ranked.map(async (list) => {
          const found = await passages.get(list.map(({ at }) => at));
          return list.map(({ score }, i): Hit => ({ passage: found[i]!, score }));
        }),
      );
    },
    close: () => passages.close(),
  };
}

type OpenRanker = (dir: string, manifest: IndexManifest, encoder: Encoder | undefined) => Promise<Ranker>;

const rankers: Readonly<Record<SearchMode, OpenRanker>> = {
  bm25: openBm25,
  dense: openDensePart,
  hybrid: async (dir, manifest, encoder) =>
    fuse([await openDensePart(dir, manifest, encoder), await openBm25(dir, manifest)]),
};

async function openBm25(dir: string, manifest: IndexManifest): Promise<Ranker> {
  const [wordId, start, passage, impact] = await Promise.all([
    openWords(dir),
    readU32(join(dir, files.start)),
    readU32(join(dir, files.passage)),
    readF32(join(dir, files.impact)),
  ]);
  return bm25Ranker(
    { size: manifest.passages, wordId, start, passage, impact },
    bm25Fingerprint(manifest, manifest.corpus),
  );
}

async function openDensePart(dir: string, manifest: IndexManifest, encoder: Encoder | undefined): Promise<Ranker> {
  if (manifest.dense === null)
    throw new UserError(`${dir}: the index has no vectors; search it with mode bm25, or build it again with --encoder`);
  if (encoder === undefined)
    throw new UserError(
      `${dir}: the index was encoded by ${manifest.dense.encoder}; give that encoder with --encoder, or search with mode bm25`,
    );
  return openDense({ dir: join(dir, files.dense), manifest: manifest.dense, encoder });
}
