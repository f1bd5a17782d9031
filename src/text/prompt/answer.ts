/** How an answer is asked for and found: the same for every prompted strategy, in the tags of dialect `search-r1`. */
import { searchR1 } from '../dialect/search-r1.ts';

export const SHORT_ANSWER =
  'Give only the answer itself: a name, a number, a date, yes or no; no explanation. For example, <answer> Lisbon </answer>.';

export const THINK_FIRST = `Reason step by step between <think> and </think>. Then end with <answer> answer </answer>. ${SHORT_ANSWER}`;

const { parse } = searchR1();

/** A reply holds few answers; more are not looked for. */
const MOST_ANSWERS = 20;

/** The last answer block outside the think blocks of an assistant message; null when there is none. */
export function answerOf(reply: string, finish: 'stop' | 'length'): string | null {
  let answer: string | null = null;
  let rest = reply;
  for (let i = 0; i < MOST_ANSWERS; i++) {
    const { action, kept } = parse(rest, { reason: finish }, '');
    if (action.type === 'answer') answer = action.text;
    if (kept === undefined || kept === 0) break;
    rest = rest.slice(kept);
  }
  return answer;
}

/** What is said after the think blocks. */
export function withoutThinking(reply: string): string {
  const at = reply.lastIndexOf('</think>');
  return at < 0 ? reply : reply.slice(at + '</think>'.length);
}
