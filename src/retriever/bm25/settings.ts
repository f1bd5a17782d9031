/** The settings of a BM25 index and the two factors of its score. */
import type { Passage } from '../../types.ts';
import { UserError } from '../../util/error.ts';
import { analyzer } from '../analyze.ts';

export const fieldText = {
  'title+text': (p: Passage) => `${p.title}\n${p.text}`,
  title: (p: Passage) => p.title,
  text: (p: Passage) => p.text,
} satisfies Record<string, (p: Passage) => string>;

export interface Bm25Options {
  /** How slowly repeated words stop counting; ≥ 0. Default 0.9. */
  readonly k1?: number;
  /** How much long passages are held back, 0..1. Default 0.4. */
  readonly b?: number;
  /** What is indexed. Default title and text together. */
  readonly fields?: keyof typeof fieldText;
}

export type Bm25Settings = Required<Bm25Options>;

/** @throws UserError for bad options. */
export function bm25Settings({ k1 = 0.9, b = 0.4, fields = 'title+text' }: Bm25Options): Bm25Settings {
  if (!(k1 >= 0 && k1 < Infinity)) throw new UserError(`bm25: k1 is ${k1}; expected a number of at least 0 (try 0.9)`);
  if (!(b >= 0 && b <= 1)) throw new UserError(`bm25: b is ${b}; expected a number between 0 and 1 (try 0.4)`);
  if (!Object.hasOwn(fieldText, fields))
    throw new UserError(`bm25: fields is "${fields}"; expected one of ${Object.keys(fieldText).join(', ')}`);
  return { k1, b, fields };
}

/** @param corpus hash over the passages (bm25/digest). */
export const bm25Fingerprint = ({ k1, b, fields }: Bm25Settings, corpus: string): string =>
  `bm25(k1=${k1},b=${b},fields=${fields},analyzer=${analyzer},corpus=${corpus})`;

/** Of a word that `holders` of `passages` hold. */
export const idfOf = (passages: number, holders: number): number =>
  Math.log(1 + (passages - holders + 0.5) / (holders + 0.5));

/** What a word that occurs `f` times in a passage of `length` words adds to its score. */
export const impactOf = (idf: number, f: number, length: number, average: number, { k1, b }: Bm25Settings): number =>
  (idf * f * (k1 + 1)) / (f + k1 * (1 - b + (b * length) / average));
