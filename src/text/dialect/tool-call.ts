/**
 * Dialect `tool-call` (Dr. Zero's markup): JSON calls of the function `search` between `<tool_call>` tags, results
 * between `<tool_response>` tags.
 */
import type { Dialect } from '../../dialect.ts';
import { readToolCall } from '../tool-call.ts';
import { type Markup, type TaggedOptions, taggedDialect } from './tagged.ts';

const CALL = '<tool_call>{"name": "search", "arguments": {"query_list": ["query"]}}</tool_call>';

const MARKUP: Markup = {
  name: 'tool-call',
  search: 'tool_call',
  readCall: readToolCall,
  unclosedCall: 'malformed_call',
  evidence: 'tool_response',
  howToSearch: `To look something up, call the function search: write ${CALL} and stop.
query_list is a JSON array with one or more queries. The best documents then come back between <tool_response> and
</tool_response>. Never write a tool response yourself.`,
  callForm: `${CALL} with arguments that are valid JSON`,
};

export const toolCall = (options: TaggedOptions = {}): Dialect => taggedDialect(MARKUP, options);
