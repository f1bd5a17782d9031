/**
 * The turn parser of the dialects that mark sections with paired tags. Tolerant but honest: every string has a reading,
 * the first complete action wins, and nothing that is broken or that only the environment may write earns credit.
 *
 *   think blocks leave the text before it is scanned, so a tag mentioned in them is not an action
 *   an action is complete when its own closing tag meets it; its content begins after the last tag inside it
 *   whatever stands inside a self-written evidence block is not an action
 *
 * Time is linear in the length of the text.
 */
import type { Action, Finish, ParsedTurn, Range, Violation } from '../types.ts';
import { trimmedRange } from './range.ts';
import { splitThinking, type Tag, type Thinking } from './thinking.ts';

export interface Grammar {
  /** Name of the tag that holds a search call. */
  readonly search: string;
  /** Queries of a search call, or what is wrong with it. */
  readonly readCall: (content: string) => readonly string[] | Violation;
  /** What a search call that is opened and never closed is called, when that is worth a name of its own. */
  readonly unclosedCall: Violation | null;
  /** Name of the tag that holds search results. */
  readonly evidence: string;
  /** Literal texts of the control tokens that end a turn. */
  readonly stop: readonly string[];
  /** The prompt has opened the think block already. */
  readonly thinkingOpen: boolean;
}

/** `question` null: the turn is a proposer's, whose last action is a question and its answer together. */
export function parseTurn(text: string, finish: Finish, question: string | null, grammar: Grammar): ParsedTurn {
  const whole = withStop(text, finish);
  const names = ['think', grammar.search, grammar.evidence, 'answer', ...(question === null ? ['question'] : [])];
  const tags = findTags(whole, names);
  const split = splitThinking(whole, tags, grammar.thinkingOpen);
  const seen = new Set<Violation>(finish.reason === 'length' ? ['truncated'] : []);
  for (const violation of split.violations) seen.add(violation);
  const scan = findAction(whole, tags, split.outside, question === null, grammar);
  for (const violation of scan.violations) seen.add(violation);

  const found = scan.found;
  if (found === null) return withoutAction(whole, finish, tags, split, scan, seen, grammar);
  const end = Math.min(found.end, text.length);
  const discardedTail = stripStops(text.slice(end), grammar.stop) !== '';
  if (found.action.type === 'invalid') seen.add(found.action.reason);
  return {
    thinking: split.thinking,
    action: found.action,
    formatOk: seen.size === 0,
    violations: [...seen],
    truncated: finish.reason === 'length',
    discardedTail,
    ...(discardedTail ? { kept: end } : {}),
    closedByStop: found.closed > text.length,
  };
}

/** The text with the stop string that the engine removed put back. The reason decides, never the look of the text. */
function withStop(text: string, finish: Finish): string {
  const stop = finish.reason === 'stop' ? (finish.stopMatched ?? '') : '';
  return text.endsWith(stop) ? text : text + stop;
}

function findTags(text: string, names: readonly string[]): Tag[] {
  const pattern = new RegExp(`<(/?)(${names.join('|')})>`, 'g');
  return [...text.matchAll(pattern)].map((m) => ({
    name: m[2]!,
    closing: m[1] === '/',
    start: m.index,
    end: m.index + m[0].length,
  }));
}

interface Scan {
  readonly found: { readonly action: Action; readonly closed: number; readonly end: number } | null;
  readonly violations: ReadonlySet<Violation>;
  /** Tags that were open when the text ended without a complete action. */
  readonly open: readonly Tag[];
  /** A proposer's question without its answer. */
  readonly loneQuestion: boolean;
}

/** `outside` holds the indices in `tags` of those that no think block covers. */
function findAction(
  text: string,
  tags: readonly Tag[],
  outside: readonly number[],
  proposer: boolean,
  g: Grammar,
): Scan {
  const violations = new Set<Violation>();
  const open: Tag[] = [];
  let inEvidence = false;
  let asked: Range | null = null;
  for (let at = 0; at < outside.length; at++) {
    const tag = tags[outside[at]!]!;
    if (tag.name === g.evidence) {
      violations.add('self_authored_information');
      inEvidence = !tag.closing;
      continue;
    }
    if (inEvidence || tag.name === 'think') continue;
    if (!tag.closing) {
      if (open.length > 0) violations.add('nested_tag');
      open.push(tag);
      continue;
    }
    if (open.at(-1)?.name !== tag.name) {
      violations.add('nested_tag');
      continue;
    }
    const inner = tags[outside[at]! - 1]!;
    if (inner !== open.pop()) violations.add('nested_tag');
    const content = trimmedRange(text, inner.end, tag.start);
    if (tag.name === 'question') {
      if (asked !== null) violations.add('action_after_action');
      asked ??= content;
      continue;
    }
    if (tag.name === g.search && asked !== null) violations.add('action_after_action');
    const action = readAction(text, tag.name, content, asked, proposer, g);
    const rest = outside.slice(at + 1).map((index) => tags[index]!);
    const end = absorbClosings(text, tag.end, rest, open);
    for (const violation of tailViolations(rest, g)) violations.add(violation);
    return { found: { action, closed: tag.end, end }, violations, open, loneQuestion: false };
  }
  return { found: null, violations, open, loneQuestion: asked !== null };
}

function readAction(
  text: string,
  name: string,
  content: Range,
  asked: Range | null,
  proposer: boolean,
  g: Grammar,
): Action {
  if (name === g.search) return searchAction(text.slice(content.start, content.end), g);
  return proposer ? proposal(text, asked, content) : answerAction(text, content);
}

/** Closing tags of the tags around an action belong to it: `<answer><answer>x</answer></answer>` has no tail. */
function absorbClosings(text: string, from: number, rest: readonly Tag[], open: readonly Tag[]): number {
  let end = from;
  let depth = open.length;
  for (const tag of rest) {
    if (depth === 0 || !tag.closing || tag.name !== open[depth - 1]!.name) break;
    if (text.slice(end, tag.start).trim() !== '') break;
    end = tag.end;
    depth--;
  }
  return end;
}

function tailViolations(rest: readonly Tag[], g: Grammar): Violation[] {
  return rest.flatMap((tag): Violation[] => {
    if (tag.name === g.evidence) return ['self_authored_information'];
    return tag.closing || tag.name === 'think' ? [] : ['action_after_action'];
  });
}

function searchAction(content: string, g: Grammar): Action {
  const queries = g.readCall(content);
  if (typeof queries === 'string') return { type: 'invalid', reason: queries };
  return { type: 'search', text: queries.join('\n'), queries };
}

function answerAction(text: string, range: Range): Action {
  if (range.start === range.end) return { type: 'invalid', reason: 'empty_answer' };
  return { type: 'answer', text: text.slice(range.start, range.end), range };
}

function proposal(text: string, asked: Range | null, answerRange: Range): Action {
  if (asked === null || asked.start === asked.end) return { type: 'invalid', reason: 'empty_question' };
  if (answerRange.start === answerRange.end) return { type: 'invalid', reason: 'empty_answer' };
  const [question, answer] = [asked, answerRange].map(({ start, end }) => text.slice(start, end)) as [string, string];
  return { type: 'propose', question, answer, answerRange };
}

/** A turn without a complete action: cut by the limit it has none, ended by choice it is invalid for the first cause found. */
function withoutAction(
  text: string,
  finish: Finish,
  tags: readonly Tag[],
  { blocks, thinking }: Thinking,
  scan: Scan,
  seen: Set<Violation>,
  g: Grammar,
): ParsedTurn {
  const truncated = finish.reason === 'length';
  const callOpen = scan.open.some((tag) => tag.name === g.search) ? g.unclosedCall : null;
  if (truncated) {
    // The cut explains what is not closed.
    seen.delete('unclosed_thinking');
    if (callOpen !== null) seen.add(callOpen);
    return { thinking, action: { type: 'none' }, ...NO_ACTION, violations: [...seen], truncated };
  }
  const lookAlike = hasUnknownTag(text, tags, blocks) ? 'unknown_tag' : 'unparsed';
  const reason = callOpen ?? (scan.loneQuestion ? 'empty_answer' : ([...seen][0] ?? lookAlike));
  const violations = [...seen.add(reason).add('unparsed')];
  return { thinking, action: { type: 'invalid', reason }, ...NO_ACTION, violations, truncated };
}

const NO_ACTION = { formatOk: false, discardedTail: false, closedByStop: false } as const;

/** Anything that looks like a tag, is none of `tags`, and stands outside the think blocks. */
function hasUnknownTag(text: string, tags: readonly Tag[], blocks: readonly Range[]): boolean {
  const known = [...tags, ...blocks].sort((a, b) => a.start - b.start || b.end - a.end);
  let from = 0;
  for (const { start, end } of [...known, { start: text.length, end: text.length }]) {
    if (start >= from && /<\/?[A-Za-z][^<>]*>/.test(text.slice(from, start))) return true;
    from = Math.max(from, end);
  }
  return false;
}

/** The tail without white space and the control tokens that end a turn. */
function stripStops(tail: string, stops: readonly string[]): string {
  let rest = tail.trim();
  for (;;) {
    const stop = stops.find((s) => rest.startsWith(s));
    if (stop === undefined) return rest;
    rest = rest.slice(stop.length).trimStart();
  }
}
