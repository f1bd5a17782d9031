/**
 * What the dialects for general language models share: sections in paired tags, tasks in plain words, and search results as
 * numbered documents. The prompts are plain instructions, so any instruction-tuned model can be asked; every tag is ordinary
 * text of the vocabulary.
 */
import type { Dialect } from '../../dialect.ts';
import type { Piece } from '../../types.ts';
import { chatml, IM_END } from '../chat.ts';
import { escapeTags, numberedPassages } from '../passages.ts';
import { type Grammar, parseTurn } from '../tags.ts';
import { proposerTask, solverTask } from './task.ts';

export interface TaggedOptions {
  /** The prompt opens the think block with the control token `<think>`, as some chat templates do. */
  readonly thinkingOpen?: boolean;
  /** Control tokens of the model's vocabulary that end a turn. */
  readonly stop?: readonly string[];
  /** One running text (the default), or messages: the task and every observation are the user's, replies the assistant's. */
  readonly form?: Form;
}

export type Form = 'flat' | 'chatml';

/** Of the Qwen vocabularies. */
const QWEN_STOP = ['<|im_end|>', '<|endoftext|>'] as const;

/** How a task and an observation stand around the replies. */
const FORMS: Readonly<
  Record<
    Form,
    {
      readonly task: (text: string) => readonly Piece[];
      readonly shown: (text: string) => readonly Piece[];
      readonly endOfTurn: string | null;
    }
  >
> = {
  flat: { task: (text) => [text], shown: (text) => [`\n\n${text}\n\n`], endOfTurn: null },
  chatml: {
    task: (text) => chatml.render([{ role: 'user', content: text.trim() }]),
    shown: (text) => ['\n', ...chatml.render([{ role: 'user', content: text }])],
    endOfTurn: IM_END,
  },
};

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
  { thinkingOpen = false, stop = QWEN_STOP, form = 'flat' }: TaggedOptions,
): Dialect {
  const grammar: Grammar = { ...markup, stop, thinkingOpen };
  const { task, shown, endOfTurn } = FORMS[form];
  const opening: readonly Piece[] = thinkingOpen ? [{ tag: '<think>' }, '\n'] : [];
  const observation = (body: string) => [
    ...shown(`<${grammar.evidence}>\n${body}\n</${grammar.evidence}>`),
    ...opening,
  ];
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
    ...(endOfTurn === null ? {} : { endOfTurn }),
    proposerPrompt: (source, hops) => [...task(proposerTask(source, hops, howToSearch)), ...opening],
    solverPrompt: (question) => [...task(solverTask(escapeTags(question), howToSearch)), ...opening],
    searchResult: (hits) => observation(numberedPassages(hits)),
    notice: (kind) => observation(notices[kind]),
    answerTurn: (_question, answer) => [
      `${thinkingOpen ? '' : '<think>'}</think>\n<answer> ${escapeTags(answer)} </answer>`,
      ...stop.slice(0, 1).map((name) => ({ tag: name })),
    ],
    parse: (text, finish, question) => parseTurn(text, finish, question, grammar),
  };
}
