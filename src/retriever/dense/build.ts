/** Encodes a corpus into a dense index. What an interrupted build has encoded is kept and not encoded again. */
import type { Encoder, PassageStore } from '../../retriever.ts';
import { buildGraph } from './graph.ts';
import type { DenseManifest } from './manifest.ts';
import { openUsearch } from './usearch.ts';
import { BLOCK_ROWS, openVectors } from './vectors.ts';

export interface DenseBuild {
  /** Folder of the index; it exists. */
  readonly dir: string;
  readonly passages: PassageStore;
  readonly encoder: Encoder;
  /** Whether a graph for approximate search is built; it needs the optional package usearch. */
  readonly ann: boolean;
  /** Hash of the corpus: vectors of another corpus are not taken up. */
  readonly corpus: string;
  /** Hears how many passages are done in each phase, those of an earlier build included. */
  progress?(done: number, total: number, phase: 'encoding' | 'graph'): void;
}

/** @throws InfraError when encoder or disk fail: the same call goes on where it stopped. */
export async function buildDense({
  dir,
  passages,
  encoder,
  ann,
  corpus,
  progress,
}: DenseBuild): Promise<DenseManifest> {
  const usearch = ann ? openUsearch() : null;
  const { name, dimension, prefixes } = encoder;
  const made = { corpus, encoder: name, dimension, prefixes };
  const vectors = await openVectors(dir, made);
  try {
    progress?.(vectors.rows(), passages.size, 'encoding');
    while (vectors.rows() < passages.size) {
      const from = vectors.rows();
      const places = Array.from({ length: Math.min(BLOCK_ROWS, passages.size - from) }, (_, i) => from + i);
      const texts = (await passages.get(places)).map(({ title, text }) => (title === '' ? text : `${title}\n${text}`));
      await vectors.append(await encoder.embed(texts, 'passage'));
      progress?.(vectors.rows(), passages.size, 'encoding');
    }
    const common = { ...made, normalised: true as const, rows: vectors.rows(), vectors: vectors.id() };
    if (usearch === null) return { kind: 'exact', ...common };
    return {
      kind: 'hnsw-f16',
      ...common,
      ...(await buildGraph(usearch, dir, common, (done, total) => progress?.(done, total, 'graph'))),
    };
  } finally {
    await vectors.close();
  }
}
