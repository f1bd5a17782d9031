/** The text that `pretrain reader` learns from and is measured on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSources } from '../retriever/corpus/read.ts';
import { newReport } from '../retriever/corpus/report.ts';
import type { TextSet } from '../train/pretrain/reader-corpus.ts';
import type { Source } from '../types.ts';
import { UserError } from '../util/error.ts';

export interface ReaderText {
  readonly sets: readonly TextSet[];
  /** Text that must not be trained on, not even where a training passage repeats it. */
  readonly barred: readonly Source[];
  /** Sets of which nothing is trained on. */
  readonly extraProbes: readonly TextSet[];
}

interface CorpusRow {
  readonly file: string;
  readonly name: string;
  readonly weight: number;
  /** One title in so many is held out; 1 is all of them. */
  readonly heldOutOneIn: number;
  /** Documentation is scarce: it counts several times in the vocabulary. */
  readonly vocabularyTimes: number;
}

const CORPORA: readonly CorpusRow[] = [
  { file: 'hotpotqa.jsonl.gz', name: 'hotpotqa', weight: 26, heldOutOneIn: 25, vocabularyTimes: 1 },
  { file: '2wikimultihopqa.jsonl.gz', name: '2wikimultihopqa', weight: 26, heldOutOneIn: 25, vocabularyTimes: 1 },
  { file: 'popqa.jsonl.gz', name: 'popqa', weight: 8, heldOutOneIn: 25, vocabularyTimes: 1 },
  { file: 'wiki_kilt_r1searcher.jsonl.gz', name: 'wiki_kilt', weight: 26, heldOutOneIn: 25, vocabularyTimes: 1 },
  { file: 'own_docs/fastapi_docs.jsonl', name: 'fastapi', weight: 14, heldOutOneIn: 2, vocabularyTimes: 6 },
  { file: 'musique.jsonl.gz', name: 'musique', weight: 1, heldOutOneIn: 1, vocabularyTimes: 0 },
  { file: 'own_docs/peps_docs.jsonl.gz', name: 'peps', weight: 1, heldOutOneIn: 1, vocabularyTimes: 0 },
];

export async function readerText(
  text: { readonly kind: 'corpora' | 'docs'; readonly path: string } | null,
): Promise<ReaderText> {
  if (text === null) {
    throw new UserError('pretrain reader: needs text to learn from; give --docs DIR (documents) or --corpora DIR');
  }
  if (text.kind === 'docs') {
    const documents = await load(text.path);
    const set = { name: 'docs', documents, heldOutOneIn: 25, weight: 1, vocabularyTimes: 1 };
    return { sets: [set], barred: [], extraProbes: [] };
  }
  const sets: TextSet[] = [];
  for (const { file, ...row } of CORPORA) {
    const path = join(text.path, file);
    if (!existsSync(path))
      throw new UserError(`${path}: missing; --corpora expects ${CORPORA.map((c) => c.file).join(', ')}`);
    sets.push({ ...row, documents: await load(path) });
  }
  const barred = sets.filter((s) => s.heldOutOneIn === 1);
  return {
    sets: sets.filter((s) => s.heldOutOneIn > 1),
    barred: barred.flatMap((s) => s.documents),
    extraProbes: barred,
  };
}

async function load(path: string): Promise<Source[]> {
  const out: Source[] = [];
  for await (const source of readSources(path, newReport())) out.push(source);
  return out;
}
