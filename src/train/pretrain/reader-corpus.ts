/**
 * Text that the `reader` policy is pre-trained on, cut into passages and kept apart from what it is measured on: some titles
 * are held out, and a training passage that shares eight words in a row with held-out or barred text is dropped.
 */
import type { Tokenizer } from '../../engine.ts';
import { type TokenizerFiles, trainBpe } from '../../text/bpe.ts';
import { paragraphsOf } from '../../text/cloze/clean.ts';
import { clozePassages } from '../../text/cloze/snippets.ts';
import { clozesOf } from '../../text/cloze/spans.ts';
import { CLOZE_TAGS } from '../../text/dialect/cloze.ts';
import type { Passage, Source } from '../../types.ts';
import { UserError } from '../../util/error.ts';
import { hash64 } from '../../util/rng.ts';

export interface TextSet {
  readonly name: string;
  readonly documents: readonly Source[];
  /** Is the document of this title kept to measure on? */
  readonly isHeldOut: (title: string) => boolean;
  /** Relative share of the examples. */
  readonly weight: number;
  /** How often the text counts when the vocabulary is made. */
  readonly vocabularyTimes: number;
}

/** The passages of one text set in document order: neighbours in the array are neighbours in the text. */
export interface ReaderPart {
  readonly name: string;
  readonly weight: number;
  readonly passages: readonly Passage[];
  /** Indices of the passages that have a cloze. */
  readonly askable: readonly number[];
}

export interface ReaderCorpus {
  readonly tokenizer: Tokenizer;
  readonly parts: readonly ReaderPart[];
}

export type Split = 'train' | 'heldOut';

const GRAM = 8;
const VOCABULARY = 2048;
const MIN_COUNT = 3;

/** One title in `oneIn`, chosen by hash; 1 is all of them. */
export const oneTitleIn = (title: string, oneIn: number): boolean => hash64(title.toLowerCase())[0] % oneIn === 0;

const documentsOf = (set: TextSet, split: Split): readonly Source[] =>
  set.documents.filter((document) => set.isHeldOut(document.title) === (split === 'heldOut'));

/** The vocabulary of the training split, 2,048 tokens with the control tokens of dialect `cloze`. */
export function readerTokenizer(sets: readonly TextSet[]): TokenizerFiles {
  return trainBpe(trainingText(sets), { size: VOCABULARY, control: CLOZE_TAGS, minCount: MIN_COUNT });
}

function* trainingText(sets: readonly TextSet[]): Generator<string> {
  for (const set of sets)
    for (const document of documentsOf(set, 'train'))
      for (const paragraph of paragraphsOf(document.text))
        for (let i = 0; i < set.vocabularyTimes; i++) yield ` ${paragraph}`;
}

/** @param barred documents of other corpora that the policy will be measured on. @throws UserError when a set has no cloze. */
export function readerCorpus(
  sets: readonly TextSet[],
  tokenizer: Tokenizer,
  split: Split,
  barred: readonly Source[] = [],
): ReaderCorpus {
  const kept = new Set<number>();
  if (split === 'train')
    for (const document of [...barred, ...sets.flatMap((set) => documentsOf(set, 'heldOut'))])
      for (const gram of gramsOf(paragraphsOf(document.text).join(' '))) kept.add(gram);
  const seen = new Set<string>();
  const isNew = (passage: Passage): boolean => {
    const before = seen.size;
    return seen.add(passage.text).size > before && !gramsOf(passage.text).some((gram) => kept.has(gram));
  };
  return { tokenizer, parts: sets.map((set) => partOf(set, split, tokenizer, isNew)) };
}

function partOf(set: TextSet, split: Split, tokenizer: Tokenizer, isNew: (passage: Passage) => boolean): ReaderPart {
  const passages = documentsOf(set, split)
    .flatMap((document) => clozePassages(document, tokenizer))
    .filter(isNew);
  const askable = passages.flatMap(({ text }, i) => (clozesOf(text).length > 0 ? [i] : []));
  if (askable.length === 0) {
    const use = { train: 'to learn from', heldOut: 'to measure on' }[split];
    throw new UserError(
      `text set "${set.name}": no sentence with a name, number, date or identifier ${use}, after what it shares with held-out text is left out; expected English prose in more than one document`,
    );
  }
  return { name: set.name, weight: set.weight, passages, askable };
}

/** Hashes of every run of eight words, lower-case; a shorter text is one run. */
function gramsOf(text: string): number[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const grams: number[] = [];
  for (let i = 0; i + GRAM <= Math.max(words.length, GRAM); i++) {
    const [high, low] = hash64(words.slice(i, i + GRAM).join(' '));
    grams.push((high >>> 11) * 2 ** 32 + low);
  }
  return grams;
}
