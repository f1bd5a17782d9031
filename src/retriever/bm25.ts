/**
 * BM25 over passages in memory (Lucene's idf, no query weighting), searched synchronously on one thread.
 *
 *   score(q, d) = Σ_{t ∈ q} idf(t) · f(t,d) · (k1 + 1) / (f(t,d) + k1 · (1 − b + b · |d| / avg|d|))
 *   idf(t)      = ln(1 + (N − n(t) + ½) / (n(t) + ½))
 *
 * A word that occurs twice in a query counts twice. Every summand is computed when the index is built and kept as a
 * float32; sums of few float32s are exact in a float64, so equal passages tie exactly, whatever the order of the words.
 */
import { createHash } from 'node:crypto';
import type { Hit, Retriever } from '../retriever.ts';
import type { Passage } from '../types.ts';
import { UserError } from '../util/error.ts';
import { analyze, analyzer } from './analyze.ts';

const fieldText = {
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

/** An inverted index: the passages that hold word w are `passage[start[w]..start[w + 1])`, in corpus order. */
interface Index {
  readonly words: ReadonlyMap<string, number>;
  readonly start: Uint32Array;
  readonly passage: Uint32Array;
  /** Summand of the score that this word gives to this passage; always > 0. */
  readonly impact: Float32Array;
}

/** Passages without a word of the query are never hits, so there may be fewer than k. Throws UserError for bad options. */
export function bm25(passages: readonly Passage[], options: Bm25Options = {}): Retriever {
  const { k1 = 0.9, b = 0.4, fields = 'title+text' } = options;
  if (!(k1 >= 0 && k1 < Infinity)) throw new UserError(`bm25: k1 is ${k1}; expected a number of at least 0 (try 0.9)`);
  if (!(b >= 0 && b <= 1)) throw new UserError(`bm25: b is ${b}; expected a number between 0 and 1 (try 0.4)`);
  if (!Object.hasOwn(fieldText, fields))
    throw new UserError(`bm25: fields is "${fields}"; expected one of ${Object.keys(fieldText).join(', ')}`);

  const index = buildIndex(passages.map(fieldText[fields]), k1, b);
  const topK = searcher(index, passages.length);
  return {
    fingerprint: `bm25(k1=${k1},b=${b},fields=${fields},analyzer=${analyzer},corpus=${digest(passages)})`,
    async search(queries, k) {
      if (!Number.isInteger(k) || k < 0) throw new RangeError(`search: k is ${k}; expected a whole number`);
      return queries.map((query) => topK(query, k).map(({ at, score }): Hit => ({ passage: passages[at]!, score })));
    },
  };
}

function digest(passages: readonly Passage[]): string {
  const hash = createHash('sha256');
  for (const { id, title, text } of passages) hash.update(JSON.stringify([id, title, text]));
  return hash.digest('hex').slice(0, 16);
}

function buildIndex(texts: readonly string[], k1: number, b: number): Index {
  const words = new Map<string, number>();
  const holders: number[] = [];
  const lengths = new Uint32Array(texts.length);
  // Postings in corpus order first: word, passage, occurrences.
  const found = { word: growing(), passage: growing(), count: growing() };
  const counts = new Map<number, number>();
  texts.forEach((text, at) => {
    counts.clear();
    const tokens = analyze(text);
    lengths[at] = tokens.length;
    for (const token of tokens) {
      let id = words.get(token);
      if (id === undefined) {
        id = words.size;
        words.set(detached(token), id);
        holders.push(0);
      }
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for (const [id, count] of counts) {
      found.word.push(id);
      found.passage.push(at);
      found.count.push(count);
      holders[id]!++;
    }
  });

  const start = new Uint32Array(words.size + 1);
  holders.forEach((n, id) => {
    start[id + 1] = start[id]! + n;
  });
  const next = start.slice();
  const idf = holders.map((n) => Math.log(1 + (texts.length - n + 0.5) / (n + 0.5)));
  const average = lengths.reduce((sum, n) => sum + n, 0) / texts.length;
  const [wordOf, passageOf, countOf] = [found.word.done(), found.passage.done(), found.count.done()];
  const passage = new Uint32Array(wordOf.length);
  const impact = new Float32Array(wordOf.length);
  for (let j = 0; j < wordOf.length; j++) {
    const id = wordOf[j]!;
    const at = passageOf[j]!;
    const f = countOf[j]!;
    const slot = next[id]!++;
    passage[slot] = at;
    impact[slot] = (idf[id]! * f * (k1 + 1)) / (f + k1 * (1 - b + (b * lengths[at]!) / average));
  }
  return { words, start, passage, impact };
}

/** The search of one index. Its score array is reused between calls and all zero outside of them. */
function searcher({ words, start, passage, impact }: Index, size: number) {
  const scores = new Float64Array(size);
  const touched = new Uint32Array(size);
  return (query: string, k: number): readonly { readonly at: number; readonly score: number }[] => {
    const wanted = new Map<number, number>();
    for (const token of analyze(query)) {
      const id = words.get(token);
      if (id !== undefined) wanted.set(id, (wanted.get(id) ?? 0) + 1);
    }
    let n = 0;
    for (const [id, times] of wanted) {
      const end = start[id + 1]!;
      for (let slot = start[id]!; slot < end; slot++) {
        const at = passage[slot]!;
        if (scores[at] === 0) touched[n++] = at;
        scores[at]! += times * impact[slot]!;
      }
    }
    // Best k so far, best first: most passages fail the first comparison.
    const room = Math.min(k, n);
    const best = new Float64Array(room).fill(-1);
    const who = new Uint32Array(room);
    for (let i = 0; i < n; i++) {
      const at = touched[i]!;
      const score = scores[at]!;
      scores[at] = 0;
      let j = room - 1;
      if (j < 0 || !before(score, at, best[j]!, who[j]!)) continue;
      for (; j > 0 && before(score, at, best[j - 1]!, who[j - 1]!); j--) {
        best[j] = best[j - 1]!;
        who[j] = who[j - 1]!;
      }
      best[j] = score;
      who[j] = at;
    }
    return Array.from(who, (at, i) => ({ at, score: best[i]! }));
  };
}

/** Ranking order: higher score first, ties in corpus order. */
const before = (score: number, at: number, otherScore: number, otherAt: number): boolean =>
  score > otherScore || (score === otherScore && at < otherAt);

/** V8 keeps a whole text alive for a long substring of it; a copy does not. */
const detached = (token: string): string => (token.length < 13 ? token : Buffer.from(token).toString());

/** A Uint32Array that is appended to. */
function growing() {
  let items = new Uint32Array(1024);
  let n = 0;
  return {
    push(item: number) {
      if (n === items.length) {
        const wider = new Uint32Array(2 * n);
        wider.set(items);
        items = wider;
      }
      items[n++] = item;
    },
    done: () => items.subarray(0, n),
  };
}
