/** Counts the words of passages as they come, and turns "passage: its words" into "word: its passages". */
import { type Growing, growing } from '../../util/growing.ts';
import { analyze } from '../analyze.ts';

/** The passages that hold word w, in corpus order: `passage[start[w]..start[w + 1])`, with occurrences in `count`. */
export interface Postings {
  readonly start: Uint32Array;
  readonly passage: Uint32Array;
  readonly count: Uint32Array;
}

export interface Collector {
  /** Word to its number, in order of first appearance; from the beginning. */
  readonly words: ReadonlyMap<string, number>;
  /** Words of every passage so far; from the beginning. */
  readonly lengths: Growing;
  /** Postings since the last `take`. */
  readonly pending: number;
  add(text: string): void;
  /** The pending postings by word, for all words so far. */
  take(): Postings;
}

/** @param room postings to make room for. */
export function collector(room = 1024): Collector {
  const words = new Map<string, number>();
  const lengths = growing();
  // One posting: word, passage, occurrences.
  const found = { word: growing(room), passage: growing(room), count: growing(room) };
  const counts = new Map<number, number>();
  const idOf = (token: string): number => {
    const known = words.get(token);
    if (known !== undefined) return known;
    words.set(detached(token), words.size);
    return words.size - 1;
  };
  return {
    words,
    lengths,
    get pending() {
      return found.word.length;
    },
    add(text) {
      const at = lengths.length;
      const tokens = analyze(text);
      lengths.push(tokens.length);
      counts.clear();
      for (const token of tokens) {
        const id = idOf(token);
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      for (const [id, count] of counts) {
        found.word.push(id);
        found.passage.push(at);
        found.count.push(count);
      }
    },
    take() {
      const postings = byWord(found.word.done(), found.passage.done(), found.count.done(), words.size);
      for (const column of Object.values(found)) column.clear();
      return postings;
    },
  };
}

/** A counting sort: stable, so that passages stay in corpus order. */
function byWord(wordOf: Uint32Array, passageOf: Uint32Array, countOf: Uint32Array, words: number): Postings {
  const start = new Uint32Array(words + 1);
  for (const word of wordOf) start[word + 1]!++;
  for (let w = 0; w < words; w++) start[w + 1]! += start[w]!;
  const next = start.slice();
  const passage = new Uint32Array(wordOf.length);
  const count = new Uint32Array(wordOf.length);
  for (let j = 0; j < wordOf.length; j++) {
    const slot = next[wordOf[j]!]!++;
    passage[slot] = passageOf[j]!;
    count[slot] = countOf[j]!;
  }
  return { start, passage, count };
}

/** V8 keeps a whole text alive for a long substring of it; a copy does not. */
const detached = (token: string): string => (token.length < 13 ? token : Buffer.from(token).toString());
