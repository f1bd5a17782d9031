/**
 * ircot (arXiv 2212.10509): retrieval and one sentence of reasoning take turns; a separate reader then answers from all that
 * was found.
 */
import type { Hit } from '../retriever.ts';
import type { Procedure } from '../strategy.ts';
import { concludes, nextSentencePrompt, sentenceOf } from '../text/prompt/ircot.ts';
import { readPrompt } from '../text/prompt/read.ts';

const MOST_PARAGRAPHS = 15;
const SENTENCE_TOKENS = 128;

export const ircot: Procedure = async (question, { ask, search, budget, evidenceWords }) => {
  let paragraphs = await search(question);
  const sentences: string[] = [];
  // The last reply is the reader's.
  for (let left = budget.turns - 1; left > 0; left--) {
    const prompt = nextSentencePrompt(question, paragraphs, sentences, evidenceWords);
    const { text } = await ask({ messages: [prompt], maxTokens: SENTENCE_TOKENS });
    const sentence = sentenceOf(text);
    if (sentence === '' || concludes(sentence) || sentences.includes(sentence)) break;
    sentences.push(sentence);
    if (left > 1) paragraphs = withMore(paragraphs, await search(sentence));
  }
  return ask({ messages: [readPrompt(question, paragraphs, evidenceWords)] });
};

/** Each passage once, the earlier find first. */
function withMore(found: readonly Hit[], more: readonly Hit[]): Hit[] {
  const known = new Set(found.map(({ passage }) => passage.id));
  return [...found, ...more.filter(({ passage }) => !known.has(passage.id))].slice(0, MOST_PARAGRAPHS);
}
