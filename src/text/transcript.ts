/** Reads a finished transcript of messages, as logs of other systems keep them. */
import type { Dialect } from '../dialect.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
}

/** The last answer that an assistant message gives; null when there is none. No other role is ever searched. */
export function transcriptAnswer(messages: readonly Message[], dialect: Pick<Dialect, 'parse'>): string | null {
  let answer: string | null = null;
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const { action } = dialect.parse(message.content, { reason: 'stop' }, '');
    if (action.type === 'answer') answer = action.text;
  }
  return answer;
}
