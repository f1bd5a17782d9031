/**
 * How a conversation is written as tokens. ChatML where the vocabulary has its control tokens, else plain text with role names.
 * A row per form; which one is used follows from the vocabulary, never from a model's name.
 */
import type { Message } from '../chat.ts';
import type { Tokenizer } from '../engine.ts';
import type { Piece } from '../types.ts';

export interface ChatForm {
  readonly name: 'chatml' | 'plain';
  /** The conversation so far and the opening of the assistant's next message. */
  render(messages: readonly Message[]): readonly Piece[];
  /** Control tokens that end a reply. */
  readonly stop: readonly string[];
  /** Texts that end a reply. */
  readonly stopTexts: readonly string[];
}

export const IM_START = '<|im_start|>';
export const IM_END = '<|im_end|>';
export const END_OF_TEXT = '<|endoftext|>';

export const chatml: ChatForm = {
  name: 'chatml',
  render: (messages) => [
    ...messages.flatMap(({ role, content }): Piece[] => [
      { tag: IM_START },
      `${role}\n${content}`,
      { tag: IM_END },
      '\n',
    ]),
    { tag: IM_START },
    'assistant\n',
  ],
  stop: [IM_END],
  stopTexts: [],
};

const NAMES = { system: 'System', user: 'User', assistant: 'Assistant' } as const;

const plain: ChatForm = {
  name: 'plain',
  render: (messages) => [
    `${messages.map(({ role, content }) => `${NAMES[role]}: ${content}\n\n`).join('')}${NAMES.assistant}:`,
  ],
  stop: [],
  stopTexts: ['\nUser:', '\nSystem:'],
};

export const chatFormOf = (tokenizer: Tokenizer): ChatForm => (hasTag(tokenizer, IM_START) ? chatml : plain);

export function hasTag(tokenizer: Tokenizer, name: string): boolean {
  try {
    tokenizer.tag(name);
    return true;
  } catch {
    return false;
  }
}
