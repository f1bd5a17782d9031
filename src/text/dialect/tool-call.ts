/**
 * Dialect `tool-call` (Dr. Zero's markup): JSON calls of the function `search` between `<tool_call>` tags, results
 * between `<tool_response>` tags. The prompts are plain instructions; every tag is ordinary text of the vocabulary.
 */
import type { Dialect } from '../../dialect.ts';
import type { Piece } from '../../types.ts';
import { escapeTags, numberedPassages } from '../passages.ts';
import { type Grammar, parseTurn } from '../tags.ts';
import { readToolCall } from '../tool-call.ts';
import { QWEN_STOP, type TextDialectOptions } from './search-r1.ts';
import { proposerTask, solverTask } from './task.ts';

const CALL = '<tool_call>{"name": "search", "arguments": {"query_list": ["query"]}}</tool_call>';

const SEARCH = `To look something up, call the function search: write ${CALL} and stop.
query_list is a JSON array with one or more queries. The best documents then come back between <tool_response> and
</tool_response>. Never write a tool response yourself.`;

const NOTICE = {
  repeated_query: 'You have searched for this before; its documents are above. Use them, or search for something else.',
  invalid_action: `That turn could not be used. To search, write ${CALL} with arguments that are valid JSON. To finish, end as the task asks. Write exactly one of them and close its tags.`,
  search_limit: 'No searches are left. Finish now with what you have found.',
} as const;

export function toolCall({ thinkingOpen = false, stop = QWEN_STOP }: TextDialectOptions = {}): Dialect {
  const grammar: Grammar = {
    search: 'tool_call',
    readCall: readToolCall,
    unclosedCall: 'malformed_call',
    evidence: 'tool_response',
    stop,
    thinkingOpen,
  };
  const opening: readonly Piece[] = thinkingOpen ? [{ tag: '<think>' }, '\n'] : [];
  const observation = (body: string) => [`\n\n<tool_response>\n${body}\n</tool_response>\n\n`, ...opening];
  return {
    name: 'tool-call',
    thinks: true,
    stop,
    proposerPrompt: (source, hops) => [proposerTask(source, hops, SEARCH), ...opening],
    solverPrompt: (question) => [solverTask(escapeTags(question), SEARCH), ...opening],
    searchResult: (hits) => observation(numberedPassages(hits)),
    notice: (kind) => observation(NOTICE[kind]),
    parse: (text, finish, question) => parseTurn(text, finish, question, grammar),
  };
}
