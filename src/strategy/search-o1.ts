/**
 * search-o1 (arXiv 2501.05366): the model asks for searches inside its reasoning; a second call reads what was found and leaves
 * a note in its place. A query that was asked before, and one beyond the limit, get a word instead.
 */
import type { Procedure } from '../strategy.ts';
import {
  distilPrompt,
  END_QUERY,
  NO_MORE,
  notePrompt,
  queryOf,
  REUSE,
  reasonPrompt,
} from '../text/prompt/search-o1.ts';

/** How much of the reasoning the reader of documents sees, in characters: its end. */
const LONGEST_REASONING = 2000;

const same = (query: string): string => query.toLowerCase().replace(/\s+/g, ' ');

export const searchO1: Procedure = async (question, { ask, search, budget, evidenceWords }) => {
  const limit = budget.turns - 1;
  const asked = new Set<string>();
  const messages = [reasonPrompt(question, limit)];
  let reply = await ask({ messages, stop: [END_QUERY] });
  // [ours] Who is told that the limit is reached has one more reply to answer in.
  for (let turn = 1; turn <= budget.turns; turn++) {
    const call = reply.finish === 'length' ? null : queryOf(reply.text);
    if (call === null) break;
    messages.push(call.said);
    messages.push(await observation(call.query, turn === budget.turns));
    reply = await ask({ messages, stop: [END_QUERY] });
  }
  return reply;

  async function observation(query: string, last: boolean): Promise<string> {
    if (last || asked.size >= limit) return NO_MORE;
    if (asked.has(same(query))) return REUSE;
    asked.add(same(query));
    const hits = await search(query);
    const reasoning = messages
      .filter((_, i) => i % 2 === 1)
      .join('\n')
      .slice(-LONGEST_REASONING);
    const note = await ask({ messages: [distilPrompt(question, query, reasoning, hits, evidenceWords)] });
    return notePrompt(note.text);
  }
};
