/**
 * The prompt of a code-point vocabulary as text again: the inverse of `chatml` (text/chat) for servers that take messages, and
 * one string for those that take text. Servers read control tokens out of plain text, so a literal of one in untrusted text
 * is broken up on the way.
 */
import type { Message } from '../../chat.ts';
import type { Tokenizer } from '../../engine.ts';
import { END_OF_TEXT, IM_END, IM_START } from '../../text/chat.ts';

/** Control tokens of the vocabulary that a text server is spoken to with. */
export const TEXT_TAGS = [IM_START, IM_END, END_OF_TEXT] as const;

export interface Prompt {
  readonly messages: readonly Message[];
  /** The last message is the assistant's and not finished: the reply goes on with it. */
  readonly unfinished: boolean;
}

/**
 * A prompt without message openings is one user message. What stands between two messages, white space aside, is a user
 * message of its own: nothing that the policy was meant to read is lost.
 */
export function messagesOf(ids: readonly number[], tokenizer: Tokenizer): Prompt {
  const [start, end, eot] = TEXT_TAGS.map((name) => tokenizer.tag(name)) as [number, number, number];
  const text = (from: number, to: number): string =>
    harmless(tokenizer.decode(ids.slice(from, to).filter((id) => id !== end && id !== eot)));
  if (!ids.includes(start)) return { messages: [{ role: 'user', content: text(0, ids.length) }], unfinished: false };

  const messages: Message[] = [];
  const loose = (from: number, to: number): void => {
    const content = text(from, to).trim();
    if (content !== '') messages.push({ role: 'user', content });
  };
  let at = 0;
  let unfinished = false;
  while (at < ids.length) {
    const from = indexOf(ids, start, at);
    loose(at, from);
    if (from === ids.length) break;
    const next = indexOf(ids, start, from + 1);
    const close = Math.min(indexOf(ids, end, from + 1), next);
    const message = messageOf(text(from + 1, close));
    unfinished = close === ids.length && message.role === 'assistant' && message.content !== '';
    if (close < ids.length || message.role !== 'assistant' || unfinished) messages.push(message);
    at = ids[close] === end ? close + 1 : close;
  }
  return { messages, unfinished };
}

/** `role\ncontent`; a role that chat servers do not all know (tool) is a user's. */
function messageOf(text: string): Message {
  const line = text.indexOf('\n');
  const [role, content] = line < 0 ? [text, ''] : [text.slice(0, line), text.slice(line + 1)];
  return { role: role === 'system' || role === 'assistant' ? role : 'user', content };
}

function indexOf(ids: readonly number[], id: number, from: number): number {
  const at = ids.indexOf(id, from);
  return at < 0 ? ids.length : at;
}

/** The prompt as one string, control tokens as their literals. */
export function textOf(ids: readonly number[], tokenizer: Tokenizer): string {
  const control = new Set<number>(TEXT_TAGS.map((name) => tokenizer.tag(name)));
  let text = '';
  let from = 0;
  ids.forEach((id, at) => {
    if (!control.has(id)) return;
    text += harmless(tokenizer.decode(ids.slice(from, at))) + tokenizer.decode([id]);
    from = at + 1;
  });
  return text + harmless(tokenizer.decode(ids.slice(from)));
}

/** Of any family: `<|name|>` would be read as a control token wherever it stands. */
const harmless = (text: string): string => text.replace(/<\|(?=[a-z_]{1,40}\|>)/g, '< |');
