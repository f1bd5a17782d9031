/** What a dense index was made with, and the refusal of an encoder that is another one. */
import { z } from 'zod';
import type { Encoder } from '../../retriever.ts';
import { UserError } from '../../util/error.ts';

/** Rows of unit length in `vectors.f32`; an `hnsw-f16` index has the graph over them beside it. */
const common = {
  /** Hash of the corpus that was encoded. */
  corpus: z.string(),
  encoder: z.string(),
  dimension: z.number().int().positive(),
  prefixes: z.object({ query: z.string(), passage: z.string() }),
  normalised: z.literal(true),
  rows: z.number().int().nonnegative(),
  /** Content id of all rows in corpus order. */
  vectors: z.string(),
};

const hnsw = z.object({
  connectivity: z.number().int().positive(),
  expansionAdd: z.number().int().positive(),
  expansionSearch: z.number().int().positive(),
});
export type HnswParameters = z.infer<typeof hnsw>;

export const DenseManifest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('exact'), ...common }),
  z.object({
    kind: z.literal('hnsw-f16'),
    ...common,
    parameters: hnsw,
    /** Version of usearch that wrote the graph. */
    usearch: z.string(),
    /** Size of the graph file: a shorter one must not be mapped. */
    bytes: z.number().int().positive(),
  }),
]);
export type DenseManifest = z.infer<typeof DenseManifest>;

type Made = Pick<DenseManifest, 'encoder' | 'dimension' | 'prefixes'>;

/** @throws UserError that names both encoders, unless queries of this one may be compared with the rows of the index. */
export function checkEncoder(manifest: Made, { name, dimension, prefixes }: Encoder): void {
  const same =
    manifest.encoder === name &&
    manifest.dimension === dimension &&
    manifest.prefixes.query === prefixes.query &&
    manifest.prefixes.passage === prefixes.passage;
  if (same) return;
  throw new UserError(
    `The index was encoded by ${described(manifest)}; this encoder is ${described({ encoder: name, dimension, prefixes })}. ` +
      `Open the index with the encoder and prefixes it was made with, or build it again with this one.`,
  );
}

const described = ({ encoder, dimension, prefixes }: Made): string =>
  `${encoder} (dimension ${dimension}, query prefix ${JSON.stringify(prefixes.query)}, passage prefix ${JSON.stringify(prefixes.passage)})`;
