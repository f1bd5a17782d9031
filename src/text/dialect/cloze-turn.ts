/** Reads the turns of dialect `cloze`. A turn is what stands before its first `<end>`. */
import type { Action, Finish, ParsedTurn, Violation } from '../../types.ts';
import { BLANK, gapAfter, gapBefore } from '../cloze/statement.ts';

const END = '<end>';
const OPEN = '<blank>';
const CLOSE = '</blank>';
const SEARCH = '<search>';
const tags = /<(?:pad|propose|write|question|left|search|passage|blank|\/blank|results|notice)>/g;
const TOOL_TAGS: readonly string[] = ['<passage>', '<results>', '<notice>', '<question>', '<left>'];

const invalid = (reason: Violation): Action => ({ type: 'invalid', reason });

/** Text that has no business holding `tag`. */
const misplaced = (tag: string): Violation => (TOOL_TAGS.includes(tag) ? 'self_authored_information' : 'unknown_tag');

/** A solver turn: `<search>` alone, or an answer. */
export function parseReply(text: string, finish: Finish, query: string): ParsedTurn {
  return parseTurn(text, finish, (body) => {
    const first = body.match(tags)?.[0];
    if (first === SEARCH && body.trimStart().startsWith(SEARCH)) {
      if (body.trim() !== SEARCH) return invalid('malformed_call');
      return query === '' ? invalid('empty_query') : { type: 'search', text: query, queries: [query] };
    }
    if (first !== undefined) return invalid(misplaced(first));
    const answer = body.trim();
    if (answer === '') return invalid('empty_answer');
    const start = gapBefore(body).length;
    return { type: 'answer', text: answer, range: { start, end: start + answer.length } };
  });
}

/** A proposer turn: a statement with exactly one span in blank tags. */
export function parseCloze(text: string, finish: Finish): ParsedTurn {
  return parseTurn(text, finish, (body) => {
    const found = body.match(tags) ?? [];
    const stray = found.find((tag) => tag !== OPEN && tag !== CLOSE);
    if (stray !== undefined) return invalid(misplaced(stray));
    if (body.trim() === '') return invalid('empty_question');
    if (found.length < 2 || body.includes(BLANK)) return invalid('unparsed');
    if (found.length > 2 || found[0] !== OPEN || found[1] !== CLOSE) return invalid('nested_tag');
    const open = body.indexOf(OPEN);
    const close = body.indexOf(CLOSE);
    const span = body.slice(open + OPEN.length, close);
    const left = body.slice(0, open);
    const right = body.slice(close + CLOSE.length);
    const answer = span.trim();
    if (answer === '') return invalid('empty_answer');
    if ((left + right).trim() === '') return invalid('empty_question');
    const start = open + OPEN.length + gapBefore(span).length;
    return {
      type: 'propose',
      question: (left + gapBefore(span) + BLANK + gapAfter(span) + right).replace(/\s+/g, ' ').trim(),
      answer,
      answerRange: { start, end: start + answer.length },
    };
  });
}

function parseTurn(text: string, finish: Finish, read: (body: string) => Action): ParsedTurn {
  const end = text.indexOf(END);
  const closedByStop = end < 0 && finish.reason === 'stop' && finish.stopMatched === END;
  const isClosed = end >= 0 || closedByStop;
  const truncated = !isClosed && finish.reason === 'length';
  const action: Action = isClosed ? read(end < 0 ? text : text.slice(0, end)) : { type: 'none' };
  const violations: Violation[] = [];
  if (truncated) violations.push('truncated');
  else if (!isClosed) violations.push('unparsed');
  if (action.type === 'invalid') violations.push(action.reason);
  return {
    thinking: null,
    action,
    formatOk: violations.length === 0,
    violations,
    truncated,
    discardedTail: end >= 0 && text.slice(end + END.length).trim() !== '',
    closedByStop,
  };
}
