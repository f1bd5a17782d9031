/**
 * Dialect `cloze`: fill-in-the-blank questions for the small `reader` policy. No think block, one hop. The side right of
 * the blank comes first, so that the answer goes on where the left side stops.
 *
 *   solver    <question> RIGHT <left> LEFT → <search> <end> | ANSWER <end>
 *   search    <results> <passage> TEXT <passage> TEXT … <question> RIGHT <left> LEFT
 *   notice    <notice> <question> RIGHT <left> LEFT
 *   proposer  <propose> <passage> TEXT <write> → LEFT <blank> SPAN </blank> RIGHT <end>
 *
 * The query of a search is the question without its blank. Every piece of running text begins with a space where a word
 * does, so that a word has the same tokens wherever it is copied to.
 */
import type { Dialect } from '../../dialect.ts';
import type { Finish, ParsedTurn, Piece } from '../../types.ts';
import type { Cloze } from '../cloze/spans.ts';
import { BLANK, gapAfter, gapBefore, sidesOf, wordsOf } from '../cloze/statement.ts';
import { parseCloze, parseReply } from './cloze-turn.ts';

/** Every control token of the dialect; the first one pads. */
export const CLOZE_TAGS = [
  '<pad>',
  '<propose>',
  '<write>',
  '<question>',
  '<left>',
  '<search>',
  '<passage>',
  '<blank>',
  '</blank>',
  '<end>',
  '<results>',
  '<notice>',
] as const;

const tag = (name: (typeof CLOZE_TAGS)[number]): Piece => ({ tag: name });

/** Words of each side that a prompt shows, and of a passage: more than a snippet ever has, so only foreign passages lose any. */
const LEFT_WORDS = 18;
const RIGHT_WORDS = 12;
const PASSAGE_WORDS = 48;
const PASSAGES = 3;

export const cloze: Dialect = {
  name: 'cloze',
  thinks: false,
  stop: ['<end>'],
  proposerPrompt: (source) => [tag('<propose>'), ...passagePieces(source.text), tag('<write>')],
  solverPrompt: questionPieces,
  searchResult: (hits, question) => [
    ...resultPieces(hits.slice(0, PASSAGES).map((hit) => hit.passage.text)),
    ...(question === null ? [tag('<write>')] : questionPieces(question)),
  ],
  notice: (_kind, question) => [tag('<notice>'), ...(question === null ? [tag('<write>')] : questionPieces(question))],
  answerTurn: (question, answer) => answerPieces({ left: sidesOf(question).left, span: answer }),
  parse: (text: string, finish: Finish, question: string | null): ParsedTurn =>
    question === null ? parseCloze(text, finish) : parseReply(text, finish, queryOf(question)),
};

const queryOf = (question: string): string => wordsOf(question.replaceAll(BLANK, ' ')).join(' ');

export function questionPieces(question: string): Piece[] {
  const { left, right } = sidesOf(question);
  const after = wordsOf(right).slice(0, RIGHT_WORDS).join(' ');
  return [
    tag('<question>'),
    after && (gapBefore(right) && ' ') + after,
    tag('<left>'),
    spaced(wordsOf(left).slice(-LEFT_WORDS)),
  ];
}

const passagePieces = (text: string): Piece[] => [tag('<passage>'), spaced(wordsOf(text).slice(0, PASSAGE_WORDS))];

export const resultPieces = (texts: readonly string[]): Piece[] => [tag('<results>'), ...texts.flatMap(passagePieces)];

/** A proposer turn; `parse` reads it back. */
export const writtenPieces = ({ left, span, right }: Cloze): Piece[] => [
  ` ${left.trim()}`,
  tag('<blank>'),
  gapAfter(left) + span,
  tag('</blank>'),
  right,
  tag('<end>'),
];

/** A solver turn that answers, with the space that the left side calls for. */
export const answerPieces = ({ left, span }: Pick<Cloze, 'left' | 'span'>): Piece[] => [
  gapAfter(left) + span,
  tag('<end>'),
];

export const searchPieces: readonly Piece[] = [tag('<search>'), tag('<end>')];

const spaced = (words: readonly string[]): string => words.map((word) => ` ${word}`).join('');
