/**
 * The two voices of Search-o1: a reasoner that asks for searches between markers, and a reader that distils what was found
 * into a note ("reason in documents").
 */
import type { Hit } from '../../retriever.ts';
import { escapeTags } from '../passages.ts';
import { THINK_FIRST, withoutThinking } from './answer.ts';
import { evidence } from './evidence.ts';

const BEGIN_QUERY = '<begin_search_query>';
export const END_QUERY = '<end_search_query>';
const BEGIN_RESULT = '<begin_search_result>';
const END_RESULT = '<end_search_result>';

export const reasonPrompt = (
  question: string,
  searches: number,
): string => `Answer the question below. You can search while you reason: write ${BEGIN_QUERY} query ${END_QUERY} and stop. What was
found then comes back between ${BEGIN_RESULT} and ${END_RESULT}, and you go on reasoning from there. You can search at most
${searches} ${searches === 1 ? 'time' : 'times'}. ${THINK_FIRST}

Question: ${escapeTags(question)}`;

/** The query that a reply ends with, and the reply with its marker closed; null when it asks for none. */
export function queryOf(reply: string): { readonly query: string; readonly said: string } | null {
  const begin = reply.lastIndexOf(BEGIN_QUERY);
  if (begin < 0) return null;
  const from = begin + BEGIN_QUERY.length;
  const end = reply.indexOf(END_QUERY, from);
  const query = reply.slice(from, end < 0 ? undefined : end).trim();
  return query === '' ? null : { query, said: `${reply.slice(0, from)}${query}${END_QUERY}` };
}

export const distilPrompt = (
  question: string,
  query: string,
  reasoning: string,
  hits: readonly Hit[],
  words: number,
): string => `Someone who reasons about a question searched for something. Read the documents and write down, in a few sentences, what
in them helps to go on with the reasoning. Use only what the documents say. If nothing helps, write: No helpful information
found.

Question: ${escapeTags(question)}
Search: ${escapeTags(query)}
Reasoning so far: ${escapeTags(reasoning)}

Documents:
${evidence(hits, words)}`;

const result = (text: string): string => `${BEGIN_RESULT} ${text} ${END_RESULT}`;

/** A model wrote the note from documents: as untrusted as they are. */
export const notePrompt = (note: string): string =>
  result(escapeTags(withoutThinking(note).trim()) || 'No helpful information found.');

export const REUSE = result(
  'You have searched for this before. Use what was found then, or search for something else.',
);

export const NO_MORE = result('The search limit is reached. You cannot search any more: give the answer now.');
