/**
 * Pre-training examples of the `reader` policy, in the formats of dialect `cloze`: many questions on a few passages (dense,
 * where looking a span up forms), whole conversations with a search, and writing clozes. Every draw is keyed.
 */
import { type Cloze, clozesOf } from '../../text/cloze/spans.ts';
import { gapAfter, gapBefore, statementOf, wordsOf } from '../../text/cloze/statement.ts';
import {
  answerPieces,
  cloze as dialect,
  questionPieces,
  resultPieces,
  searchPieces,
  writtenPieces,
} from '../../text/dialect/cloze.ts';
import type { Piece } from '../../types.ts';
import { type Rng, rng } from '../../util/rng.ts';
import type { ReaderCorpus, ReaderPart } from './reader-corpus.ts';
import type { Example } from './schedule.ts';

/** Every example fits. */
export const LONGEST_EXAMPLE = 384;
const QUESTION_WEIGHT = 0.2;
/** Share of conversations in which the policy searches twice and is told so. */
const REPEATS = 0.1;
const MOST_WRITTEN = 3;
/** Neighbours stand at most so many passages away. */
const REGION = 6;

interface Stage {
  /** Share of training at which the stage ends. */
  readonly until: number;
  /** Weights of the three kinds. */
  readonly kinds: readonly [dense: number, conversation: number, writing: number];
}

/** More reading while looking up has not formed; then writing, which takes longest. */
const STAGES: readonly Stage[] = [
  { until: 0.25, kinds: [60, 15, 25] },
  { until: Infinity, kinds: [24, 30, 46] },
];

const KINDS = [dense, conversation, writing] as const;

/** `count` examples for the point `progress` (0..1) of training; the same arguments give the same examples. */
export function* readerExamples(
  corpus: ReaderCorpus,
  key: string,
  progress: number,
  count: number,
): Generator<Example> {
  const { kinds } = STAGES.find((stage) => progress < stage.until)!;
  for (let i = 0; i < count; i++) {
    const r = rng('reader-examples', key, i);
    const part = corpus.parts[r.weighted(corpus.parts.map(({ weight }) => weight))]!;
    yield KINDS[r.weighted(kinds)]!(corpus, part, r);
  }
}

/** What has been put together so far; `add` refuses what would make it too long. */
interface Draft extends Example {
  add(parts: readonly (readonly [pieces: readonly Piece[], weight: number])[]): boolean;
}

function draft(corpus: ReaderCorpus): Draft {
  const tokens: number[] = [];
  const weights: number[] = [];
  return {
    tokens,
    weights,
    add(parts) {
      const coded = parts.map(([pieces, weight]) => [corpus.tokenizer.encode(pieces), weight] as const);
      if (coded.reduce((sum, [ids]) => sum + ids.length, tokens.length) > LONGEST_EXAMPLE) return false;
      for (const [ids, weight] of coded)
        for (const id of ids) {
          weights.push(tokens.length === 0 ? 0 : weight);
          tokens.push(id);
        }
      return true;
    },
  };
}

/** Passages, then as many different questions on them as fit. */
function dense(corpus: ReaderCorpus, part: ReaderPart, r: Rng): Example {
  const at = r.pick(part.askable);
  const texts = shown(part, at, r.uniform() < 0.3 ? 2 : 3, r);
  const out = draft(corpus);
  out.add([[resultPieces(texts), 0]]);
  const asked = new Set<string>();
  for (const cloze of r.shuffle(texts.flatMap(clozesOf))) {
    if (asked.has(statementOf(cloze))) continue;
    asked.add(statementOf(cloze));
    out.add([
      [questionPieces(statementOf(weaken(cloze, r))), QUESTION_WEIGHT],
      [answerPieces(cloze), 1],
    ]);
  }
  return out;
}

/** Question, search, results with the passage among others, the question again, answer; now and then a second search. */
function conversation(corpus: ReaderCorpus, part: ReaderPart, r: Rng): Example {
  const at = r.pick(part.askable);
  const cloze = r.pick(clozesOf(part.passages[at]!.text));
  const question = statementOf(weaken(cloze, r));
  const answer = [answerPieces(cloze), 1] as const;
  const again = [
    [searchPieces, 0],
    [dialect.notice('repeated_query', question), 0],
  ] as const;
  const out = draft(corpus);
  out.add([
    [dialect.solverPrompt(question), 0],
    [searchPieces, 1],
    [resultPieces(shown(part, at, r.uniform() < 0.2 ? 2 : 3, r)), 0],
    [questionPieces(question), QUESTION_WEIGHT],
  ]);
  if (r.uniform() >= REPEATS || !out.add([...again, answer])) out.add([answer]);
  return out;
}

/** A few passages from anywhere, a cloze written from each. */
function writing(corpus: ReaderCorpus, part: ReaderPart, r: Rng): Example {
  const out = draft(corpus);
  const done = new Set<number>();
  for (let n = 1 + r.below(MOST_WRITTEN); n > 0; n--) {
    const at = r.pick(part.askable);
    if (done.has(at)) continue;
    done.add(at);
    const source = part.passages[at]!;
    out.add([
      [dialect.proposerPrompt(source, 1), 0],
      [writtenPieces(r.pick(clozesOf(source.text))), 1],
    ]);
  }
  return out;
}

/**
 * The text of passage `at` among others, `n` different ones in random order. Each other one comes from the neighbourhood
 * half of the time, so that distractors are close, and has a cloze four times in five.
 */
function shown(part: ReaderPart, at: number, n: number, r: Rng): readonly string[] {
  const texts = new Set([part.passages[at]!.text]);
  const size = part.passages.length;
  for (let tries = 0; texts.size < n && tries < 50; tries++) {
    const step = (1 + r.below(REGION)) * (r.uniform() < 0.5 ? 1 : -1);
    const i = r.uniform() < 0.5 ? (at + step + size * REGION) % size : r.below(size);
    if (r.uniform() < 0.2 || clozesOf(part.passages[i]!.text).length > 0) texts.add(part.passages[i]!.text);
  }
  return r.shuffle([...texts]);
}

/**
 * The same blank with less around it: sides are cut short at random, and half of the time up to 35 % of the words are gone.
 * A word that touches the blank stays.
 */
function weaken(cloze: Cloze, r: Rng): Cloze {
  let left = wordsOf(cloze.left);
  let right = wordsOf(cloze.right);
  if (r.uniform() < 0.4) left = left.slice(-(1 + r.below(8)));
  if (r.uniform() < 0.4) right = right.slice(0, gapBefore(cloze.right) === '' ? 1 + r.below(4) : r.below(5));
  if (r.uniform() < 0.5) {
    const share = r.uniform() * 0.35;
    const last = left.length - 1;
    left = left.filter((_, i) => i === last || r.uniform() >= share);
    right = right.filter((_, i) => (i === 0 && gapBefore(cloze.right) === '') || r.uniform() >= share);
  }
  return {
    left: left.join(' ') + gapAfter(cloze.left),
    span: cloze.span,
    right: gapBefore(cloze.right) + right.join(' '),
  };
}
