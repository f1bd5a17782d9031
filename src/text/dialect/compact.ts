/**
 * Dialect `compact`: one control token per section, for the small `mini` policy. A section ends at the next section tag
 * or at `<end>`; a think block is closed by the action that follows it.
 *
 *   solver    <solve> QUESTION                → <think> … <search> NAME <end> | <think> … <answer> NAME <end>
 *   proposer  <propose> <doc> PAGE <h2>       → <think> … <search> NAME <end> | <think> … <question> … <answer> … <end>
 *   search    <results> <doc> PAGE <doc> PAGE </results>      notice  <results> <notice> </results>
 */
import type { Dialect } from '../../dialect.ts';
import type { Action, Finish, ParsedTurn, Piece, Violation } from '../../types.ts';
import { trimmedRange } from '../range.ts';

/** Every control token of the dialect. A `Piece` tag is its literal text. */
export const COMPACT_TAGS = [
  '<solve>',
  '<propose>',
  '<h1>',
  '<h2>',
  '<h3>',
  '<h4>',
  '<think>',
  '<search>',
  '<question>',
  '<answer>',
  '<end>',
  '<results>',
  '</results>',
  '<doc>',
  '<notice>',
] as const;

const tag = (name: (typeof COMPACT_TAGS)[number]): Piece => ({ tag: name });
const END = '<end>';

export const compact: Dialect = {
  name: 'compact',
  thinks: true,
  stop: [END],
  proposerPrompt: (source, hops) => [tag('<propose>'), tag('<doc>'), page(source), tag(`<h${hops}>`)],
  solverPrompt: (question) => [tag('<solve>'), question],
  awarePrompt: (question, source) => [
    tag('<solve>'),
    question,
    // What a solver says before its first search, and two pages, as every search shows: mini reads nothing else well.
    ...writeTurn({ thinking: relationsOf(question), action: { type: 'search', text: source.title } }),
    tag('<results>'),
    tag('<doc>'),
    page(source),
    tag('<doc>'),
    page(source),
    tag('</results>'),
  ],
  searchResult: (hits) => [
    tag('<results>'),
    ...hits.flatMap((hit) => [tag('<doc>'), page(hit.passage)]),
    tag('</results>'),
  ],
  answerTurn: (_question, answer) => writeTurn({ thinking: '', action: { type: 'answer', text: answer } }),
  notice: () => [tag('<results>'), tag('<notice>'), tag('</results>')],
  parse: (text, finish, question) => parseTurn(text, finish, question === null ? 'proposer' : 'solver'),
};

/** `mentor of founder of Brask Mills ?` → `mentor founder` */
const relationsOf = (question: string): string => question.split(' of ').slice(0, -1).join(' ');

/** Title once, then the text: a heading or opening that repeats the title is not shown twice. */
function page({ title, text }: { readonly title: string; readonly text: string }): string {
  const body = text.startsWith(`# ${title}\n`) ? text.slice(title.length + 3).trimStart() : text;
  return body.startsWith(title) ? body : `${title}: ${body}`;
}

/** What a turn says; `writeTurn` is the inverse of `parse`. */
export interface CompactTurn {
  readonly thinking: string;
  readonly action:
    | { readonly type: 'search' | 'answer'; readonly text: string }
    | { readonly type: 'propose'; readonly question: string; readonly answer: string };
}

export function writeTurn({ thinking, action }: CompactTurn): Piece[] {
  const said =
    action.type === 'propose'
      ? [tag('<question>'), action.question, tag('<answer>'), action.answer]
      : [tag(`<${action.type}>`), action.text];
  return [tag('<think>'), thinking, ...said, tag('<end>')];
}

type Role = 'solver' | 'proposer';

interface Section {
  /** Control token that opens the section; empty for text before any. */
  readonly tag: string;
  readonly text: string;
  /** Range of the trimmed text. */
  readonly start: number;
  readonly end: number;
  /** Another control token, or the end of the turn, closes it. */
  readonly closed: boolean;
}

/** Cuts a turn at anything that looks like a tag. Empty text before the first tag is left out. */
function sections(text: string, closedAtEnd: boolean): Section[] {
  const marks = [...text.matchAll(/<\/?[a-z][a-z0-9_]*>/g)];
  const cut = (name: string, from: number, to: number, closed: boolean): Section => {
    const { start, end } = trimmedRange(text, from, to);
    return { tag: name, text: text.slice(start, end), start, end, closed };
  };
  const head = cut('', 0, marks[0]?.index ?? text.length, marks.length > 0 || closedAtEnd);
  const rest = marks.map((m, i) => {
    const next = marks[i + 1];
    return cut(m[0], m.index + m[0].length, next?.index ?? text.length, next !== undefined || closedAtEnd);
  });
  return head.text === '' ? rest : [head, ...rest];
}

const ACTION_TAGS: readonly string[] = ['<search>', '<question>', '<answer>'];
const TOOL_TAGS: readonly string[] = ['<results>', '</results>', '<doc>', '<notice>'];

/** What is wrong with a section that should not be where it is. */
function misplaced(name: string, afterAction: boolean): Violation {
  if (TOOL_TAGS.includes(name)) return 'self_authored_information';
  if (ACTION_TAGS.includes(name)) return 'action_after_action';
  if (name === '<think>') return afterAction ? 'action_after_action' : 'nested_tag';
  return name === '' || name === END ? 'unparsed' : 'unknown_tag';
}

/** The action that starts at section `i`, and how many sections it takes. */
function readAction(list: readonly Section[], i: number, role: Role): { action: Action; used: number } {
  const invalid = (reason: Violation) => ({ action: { type: 'invalid', reason } as const, used: 1 });
  const at = list[i]!;
  const next = list[i + 1];
  if (!at.closed) return { action: { type: 'none' }, used: 1 };
  if (at.tag === '<search>') {
    if (at.text === '') return invalid('empty_query');
    return { action: { type: 'search', text: at.text, queries: [at.text] }, used: 1 };
  }
  if (at.tag === '<question>') {
    if (role === 'solver') return invalid('unknown_tag');
    if (next?.tag !== '<answer>') return invalid('empty_answer');
    if (!next.closed) return { action: { type: 'none' }, used: 2 };
    const reason = at.text === '' ? 'empty_question' : next.text === '' ? 'empty_answer' : null;
    if (reason !== null) return { action: { type: 'invalid', reason }, used: 2 };
    const answerRange = { start: next.start, end: next.end };
    return { action: { type: 'propose', question: at.text, answer: next.text, answerRange }, used: 2 };
  }
  if (role === 'proposer') return invalid('empty_question');
  if (at.text === '') return invalid('empty_answer');
  return { action: { type: 'answer', text: at.text, range: { start: at.start, end: at.end } }, used: 1 };
}

/** The first complete action wins. What the policy writes in the tool's place before it makes the turn invalid. */
function parseTurn(text: string, finish: Finish, role: Role): ParsedTurn {
  const endAt = text.indexOf(END);
  const stopped = endAt < 0 && finish.reason === 'stop' && finish.stopMatched === END;
  const truncated = finish.reason === 'length';
  const list = sections(endAt < 0 ? text : text.slice(0, endAt), endAt >= 0 || stopped);
  const violations: Violation[] = truncated ? ['truncated'] : [];
  const first = list.findIndex((s) => ACTION_TAGS.includes(s.tag));
  const before = list.slice(0, first < 0 ? list.length : first);
  const opens = before[0]?.tag === '<think>';
  const thinking = opens && before.length === 1 && first === 1 ? before[0]!.text : null;
  if (opens && first < 0) violations.push('unclosed_thinking');
  for (const s of before.slice(opens ? 1 : 0)) violations.push(misplaced(s.tag, false));
  const barred = before.find((s) => TOOL_TAGS.includes(s.tag));
  const read = first < 0 ? null : readAction(list, first, role);
  const action: Action =
    barred !== undefined
      ? { type: 'invalid', reason: 'self_authored_information' }
      : (read?.action ?? { type: 'none' });
  if (action.type === 'invalid' && barred === undefined) violations.push(action.reason);
  const tail = read === null ? [] : list.slice(first + read.used);
  for (const s of tail) violations.push(misplaced(s.tag, true));
  const afterEnd = endAt >= 0 && text.slice(endAt + END.length).trim() !== '';
  if (afterEnd) violations.push('unparsed');
  const discardedTail = tail.length > 0 || afterEnd;
  const kept = tail.length > 0 ? list[list.length - tail.length - 1]!.end : endAt + END.length;
  if (action.type === 'none' && violations.length === 0) violations.push('unparsed');
  return {
    thinking,
    action,
    formatOk: violations.length === 0 && thinking !== null,
    violations: [...new Set(violations)],
    truncated,
    discardedTail,
    ...(discardedTail ? { kept } : {}),
    closedByStop: stopped && tail.length === 0 && action.type !== 'none',
  };
}
