/** What stands in a field of a log, read as an answer, a list of answers, a yes or no, a name. Null: it is something else. */
import { searchR1 } from '../../text/dialect/search-r1.ts';
import { lastAnswer } from '../../text/last-answer.ts';
import { type Message, transcriptAnswer } from '../../text/transcript.ts';
import { unpacked } from './path.ts';

/** Both tagged dialects mark answers alike. */
const DIALECT = searchR1();

export const EXTRACTS = ['text', 'last-answer-tag'] as const;
export type Extract = (typeof EXTRACTS)[number];

export const isBlank = (value: unknown): value is null | undefined | '' =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** NaN or an infinity, also as tables spell them: what a missing number becomes on its way through a data frame. */
export const isNotFinite = (value: unknown): boolean =>
  typeof value === 'number'
    ? !Number.isFinite(value)
    : typeof value === 'string' && /^\s*(?:nan|[+-]?inf(?:inity)?)\s*$/i.test(value);

export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : null;
}

/** Aliases: a text, a list of texts, or JSON text of one. */
export function answersOf(value: unknown): readonly string[] | null {
  const list = unpacked(value);
  if (!Array.isArray(list)) {
    const text = textOf(value);
    return text === null ? null : [text];
  }
  const texts = list.map(textOf);
  return texts.every((text) => text !== null) ? texts : null;
}

/** A response, which may be a transcript; null is one without an answer. Undefined: neither text nor messages. */
export function responseOf(value: unknown, extract: Extract): string | null | undefined {
  if (isBlank(value)) return null;
  const messages = messagesOf(value);
  if (messages !== null) return transcriptAnswer(messages, DIALECT);
  const text = textOf(value);
  if (text === null) return undefined;
  switch (extract) {
    case 'text':
      return text;
    case 'last-answer-tag':
      return lastAnswer(text);
    default:
      return extract satisfies never;
  }
}

/** A list, JSON text of a list, or one response alone. */
export function listOf(value: unknown): readonly unknown[] {
  const list = unpacked(value);
  return Array.isArray(list) && messagesOf(list) === null ? list : [value];
}

/** A conversation, as logs keep it. */
function messagesOf(value: unknown): readonly Message[] | null {
  const list = unpacked(value);
  if (!Array.isArray(list) || list.length === 0) return null;
  return list.every((item) => typeof item?.role === 'string' && typeof item?.content === 'string') ? list : null;
}

const YES = ['true', '1', '1.0', 'yes', 'right', 'correct'];
const NO = ['false', '0', '0.0', 'no', 'wrong', 'incorrect'];

/** Null: neither yes nor no. */
export function yesNoOf(value: unknown): boolean | null {
  const word = textOf(value)?.trim().toLowerCase();
  if (word === undefined) return null;
  return YES.includes(word) ? true : NO.includes(word) ? false : null;
}
