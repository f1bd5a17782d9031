/** The text that `pretrain reader` learns from and is measured on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readAll } from '../retriever/corpus/read.ts';
import { paragraphsOf } from '../text/cloze/clean.ts';
import { clozesOf } from '../text/cloze/spans.ts';
import {
  oneTitleIn,
  type ReaderCorpus,
  type ReaderPart,
  readerCorpus,
  type TextSet,
} from '../train/pretrain/reader-corpus.ts';
import type { ReaderProbe } from '../train/pretrain/reader-task.ts';
import type { Passage, Source } from '../types.ts';
import { UserError } from '../util/error.ts';
import { hash64 } from '../util/rng.ts';

/** Where the text is: a folder of corpora in this project's layout, or documents. */
export interface TextPlace {
  readonly kind: 'corpora' | 'docs';
  readonly path: string;
}

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

/** `warn` hears of documents that cannot be used. @throws UserError */
export async function readerText(text: TextPlace | null, warn: (text: string) => void): Promise<ReaderText> {
  if (text === null) {
    throw new UserError('pretrain reader: needs text to learn from; give --docs DIR (documents) or --corpora DIR');
  }
  if (text.kind === 'docs') {
    return { sets: [docsSet(text.path, await readAll(text.path, warn))], barred: [], extraProbes: [] };
  }
  const sets: TextSet[] = [];
  const barred: TextSet[] = [];
  for (const { file, heldOutOneIn, ...row } of CORPORA) {
    const path = join(text.path, file);
    if (!existsSync(path))
      throw new UserError(`${path}: missing; --corpora expects ${CORPORA.map((c) => c.file).join(', ')}`);
    const set = {
      ...row,
      documents: await readAll(path, warn),
      isHeldOut: (title: string) => oneTitleIn(title, heldOutOneIn),
    };
    (heldOutOneIn === 1 ? barred : sets).push(set);
  }
  return { sets, barred: barred.flatMap((s) => s.documents), extraProbes: barred };
}

/** What `reader` is measured on: held-out text among all of its set, and sets of which nothing is trained on. */
export function readerProbes({ sets, extraProbes }: ReaderText, { tokenizer, parts }: ReaderCorpus): ReaderProbe[] {
  const probeOf = ({ name, askable, passages }: ReaderPart, index: readonly Passage[]): ReaderProbe => ({
    name,
    index,
    from: askable.map((i) => passages[i]!),
  });
  return [
    ...readerCorpus(sets, tokenizer, 'heldOut').parts.map((part, i) =>
      probeOf(part, [...parts[i]!.passages, ...part.passages]),
    ),
    ...readerCorpus(extraProbes, tokenizer, 'heldOut').parts.map((part) => probeOf(part, part.passages)),
  ];
}

const DOCS_HELD_OUT_ONE_IN = 25;

/** However few the documents are, one is held out: the first titles by hash, among those that something can be asked about. */
export function docsSet(path: string, documents: readonly Source[]): TextSet {
  const usable = documents.filter(({ text }) => paragraphsOf(text).some((p) => clozesOf(p).length > 0));
  const titles = [...new Set(usable.map(({ title }) => title.toLowerCase()))];
  if (titles.length < 2) {
    throw new UserError(
      `${path}: ${usable.length} of ${documents.length} documents have a sentence with a name, number, date or identifier to ask about; at least 2 with different titles are needed, one to learn from and one to measure on`,
    );
  }
  const rank = (title: string): number => hash64(title)[0];
  const count = Math.max(1, Math.floor(titles.length / DOCS_HELD_OUT_ONE_IN));
  const heldOut = new Set(titles.sort((a, b) => rank(a) - rank(b)).slice(0, count));
  const isHeldOut = (title: string): boolean => heldOut.has(title.toLowerCase());
  return { name: 'docs', documents, isHeldOut, weight: 1, vocabularyTimes: 1 };
}
