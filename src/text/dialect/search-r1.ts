/**
 * Dialect `search-r1` (Search-R1's markup): `<search>` bare query, `<information>` results, `<answer>`. The prompts are
 * plain instructions, so any instruction-tuned model can be asked; every tag is ordinary text of the vocabulary.
 */
import type { Dialect } from '../../dialect.ts';
import type { Piece } from '../../types.ts';
import { escapeTags, numberedPassages } from '../passages.ts';
import { type Grammar, parseTurn } from '../tags.ts';
import { proposerTask, solverTask } from './task.ts';

export interface TextDialectOptions {
  /** The prompt opens the think block with the control token `<think>`, as some chat templates do. */
  readonly thinkingOpen?: boolean;
  /** Control tokens of the model's vocabulary that end a turn. */
  readonly stop?: readonly string[];
}

/** Of the Qwen vocabularies. */
export const QWEN_STOP = ['<|im_end|>', '<|endoftext|>'] as const;

const SEARCH = `To look something up, write one query as <search> query </search> and stop. The best documents then come back
between <information> and </information>. Never write an information block yourself.`;

const NOTICE = {
  repeated_query: 'You have searched for this before; its documents are above. Use them, or search for something else.',
  invalid_action:
    'That turn could not be used. To search, write <search> query </search>. To finish, end as the task asks. Write exactly one of them and close its tags.',
  search_limit: 'No searches are left. Finish now with what you have found.',
} as const;

export function searchR1({ thinkingOpen = false, stop = QWEN_STOP }: TextDialectOptions = {}): Dialect {
  const grammar: Grammar = {
    search: 'search',
    readCall: (content) => (content === '' ? 'empty_query' : [content]),
    unclosedCall: null,
    evidence: 'information',
    stop,
    thinkingOpen,
  };
  const opening: readonly Piece[] = thinkingOpen ? [{ tag: '<think>' }, '\n'] : [];
  const observation = (body: string) => [`\n\n<information>\n${body}\n</information>\n\n`, ...opening];
  return {
    name: 'search-r1',
    thinks: true,
    stop,
    proposerPrompt: (source, hops) => [proposerTask(source, hops, SEARCH), ...opening],
    solverPrompt: (question) => [solverTask(escapeTags(question), SEARCH), ...opening],
    searchResult: (hits) => observation(numberedPassages(hits)),
    notice: (kind) => observation(NOTICE[kind]),
    parse: (text, finish, question) => parseTurn(text, finish, question, grammar),
  };
}
