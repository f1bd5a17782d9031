/**
 * What the dialects for general language models share: sections in paired tags, tasks in plain words, and search results as
 * numbered documents. The prompts are plain instructions, so any instruction-tuned model can be asked; every tag is ordinary
 * text of the vocabulary.
 */
import type { Dialect } from '../../dialect.ts';
import type { Piece } from '../../types.ts';
import { escapeTags, numberedPassages } from '../passages.ts';
import { type Grammar, parseTurn } from '../tags.ts';
import { proposerTask, solverTask } from './task.ts';

export interface TaggedOptions {
  /** The prompt opens the think block with the control token `<think>`, as some chat templates do. */
  readonly thinkingOpen?: boolean;
  /** Control tokens of the model's vocabulary that end a turn. */
  readonly stop?: readonly string[];
}

/** Of the Qwen vocabularies. */
const QWEN_STOP = ['<|im_end|>', '<|endoftext|>'] as const;

/** What tells one dialect from another. */
export interface Markup extends Omit<Grammar, 'stop' | 'thinkingOpen'> {
  readonly name: string;
  /** How to search, for the prompt. */
  readonly howToSearch: string;
  /** How to write the search call, for a turn that could not be used. */
  readonly callForm: string;
}

export function taggedDialect(
  { name, howToSearch, callForm, ...markup }: Markup,
  { thinkingOpen = false, stop = QWEN_STOP }: TaggedOptions,
): Dialect {
  const grammar: Grammar = { ...markup, stop, thinkingOpen };
  const opening: readonly Piece[] = thinkingOpen ? [{ tag: '<think>' }, '\n'] : [];
  const observation = (body: string) => [`\n\n<${grammar.evidence}>\n${body}\n</${grammar.evidence}>\n\n`, ...opening];
  const notices = {
    repeated_query:
      'You have searched for this before; its documents are above. Use them, or search for something else.',
    invalid_action: `That turn could not be used. To search, write ${callForm}. To finish, end as the task asks. Write exactly one of them and close its tags.`,
    search_limit: 'No searches are left. Finish now with what you have found.',
  };
  return {
    name,
    thinks: true,
    stop,
    proposerPrompt: (source, hops) => [proposerTask(source, hops, howToSearch), ...opening],
    solverPrompt: (question) => [solverTask(escapeTags(question), howToSearch), ...opening],
    searchResult: (hits) => observation(numberedPassages(hits)),
    notice: (kind) => observation(notices[kind]),
    parse: (text, finish, question) => parseTurn(text, finish, question, grammar),
  };
}
