/** What an index folder holds and how it was made: manifest.json, written last. */
import { z } from 'zod';
import { DenseManifest } from '../dense/manifest.ts';

/** 2: checksums. */
export const indexFormat = 2;

export const files = {
  manifest: 'manifest.json',
  /** There while the index is built, with the command that builds it. */
  building: 'building.json',
  /** A passage a line, and the byte where each line starts, with the end of the last. */
  passages: 'passages.jsonl',
  offsets: 'passages.u64',
  /** Words joined, the byte where each starts, with the end of the last, and a hash table of their numbers. */
  words: 'words.txt',
  wordStarts: 'words.u32',
  wordTable: 'words.table.u32',
  /** The arrays of bm25/search. */
  start: 'bm25.start.u32',
  passage: 'bm25.passage.u32',
  impact: 'bm25.impact.f32',
  /** Folder of the dense part. */
  dense: 'dense',
} as const;

const count = z.number().int().nonnegative();

const FileSum = z.object({ bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) });
export type FileSum = z.infer<typeof FileSum>;

export const IndexManifest = z.object({
  format: z.literal(indexFormat),
  /** Version of Crossfold that built it. */
  crossfold: z.string(),
  /** Hash over id, title and text of the passages. */
  corpus: z.string(),
  passages: count,
  sources: count,
  /** Paths as they were given. */
  inputs: z.array(z.string()),
  /** Aim of the cutter in words; 0: every document is one passage. */
  chunking: z.object({ words: count }),
  analyzer: z.string(),
  k1: z.number(),
  b: z.number(),
  fields: z.enum(['title+text', 'title', 'text']),
  /** Different words, and (word, passage) pairs. */
  words: count,
  postings: count,
  dense: DenseManifest.nullable(),
  /** How the command line opens the encoder of the dense part. */
  encoderSpec: z.string().nullable(),
  /** Size and checksum of every file, by its path in the folder. */
  files: z.record(z.string(), FileSum),
});
export type IndexManifest = z.infer<typeof IndexManifest>;
