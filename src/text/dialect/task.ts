/** The two tasks in plain words, shared by the dialects for general language models. `search` says how to call the search. */
import type { Hops, Source } from '../../types.ts';
import { escapeTags } from '../passages.ts';

const THINK = 'Begin every turn by reasoning between <think> and </think>.';

export function solverTask(question: string, search: string): string {
  return `Answer the question below.

${THINK} ${search}
You may search as often as you need. When you know the answer, end with <answer> answer </answer>. Give only the answer
itself: a name, a number, a date, yes or no; no explanation. For example, <answer> Lisbon </answer>.

Question: ${question}

`;
}

export function proposerTask(source: Source, hops: Hops, search: string): string {
  return `Write one question with a short answer, starting from the document below.

Document (Title: ${escapeTags(source.title)})
${escapeTags(source.text.trim())}

The question must take exactly ${hops} ${hops === 1 ? 'step' : 'steps'} to answer.
${HOW[hops]}
Requirements:
- The question makes sense on its own to someone who cannot see the document: it names what it asks about and never says
  "the document" or "the text".
- It has exactly one correct answer, which the document or a search result states. Use nothing else you know.
- The answer is at most 5 words: a name, a number, a date, yes or no. It does not occur in the question.
- The question is hard enough that a good reader with a search engine sometimes fails.

${THINK} ${search}
When you are done, end with the question and its answer:
<question> question </question>
<answer> answer </answer>

`;
}

const chained = (steps: string): string =>
  `Each step finds one thing that the next step needs. The first step starts from a fact of the document; ${steps} Do not name
what the steps between find: describe it through the step before it.
`;

const HOW: Readonly<Record<Hops, string>> = {
  1: `The document itself states the answer; no search is needed.
`,
  2: chained('then search once for what it leads to, and ask about that.'),
  3: chained('then search for what it leads to, twice, and ask about what the second search found.'),
  4: chained('then search for what it leads to, three times, and ask about what the third search found.'),
};
