import { describe, expect, it } from 'vitest';
import { bm25 } from '../../src/retriever/bm25.ts';
import type { Passage } from '../../src/types.ts';
import { rng } from '../../src/util/rng.ts';
import { haveRealData, realPassages, realQuestions } from './real.ts';
import { winkSearch } from './wink.ts';

/** Positions of the top 10 of each query, by us and by wink-bm25-text-search. */
async function both(passages: readonly Passage[], queries: readonly string[]) {
  const at = new Map(passages.map((passage, i) => [passage.id, i]));
  const theirs = winkSearch(passages);
  const ours = await bm25(passages).search(queries, 10);
  return {
    ours: ours.map((hits) => hits.map((hit) => at.get(hit.passage.id))),
    theirs: queries.map((query) => theirs(query, 10)),
  };
}

describe('top 10 is that of wink-bm25-text-search', () => {
  it('on 400 made-up passages, ties included', async () => {
    const random = rng('peer');
    // Zipf-like words: w0 is in almost every passage, most others are rare.
    const sentence = (words: number) =>
      Array.from({ length: words }, () => `w${Math.floor(600 * random.uniform() ** 3)}`).join(' ');
    const passages = Array.from({ length: 400 }, (_, i) => ({
      id: `p${i}`,
      source: `p${i}`,
      title: sentence(2),
      text: sentence(5 + random.below(60)),
    }));
    const queries = Array.from({ length: 300 }, () => sentence(1 + random.below(12)));
    const { ours, theirs } = await both([...passages, { ...passages[7]!, id: 'twin' }], queries);
    expect(ours).toEqual(theirs);
  });

  it.skipIf(!haveRealData())('on real questions', async () => {
    for (const set of ['hotpotqa', 'popqa']) {
      const questions = realQuestions(set).map((q) => q.question);
      const { ours, theirs } = await both(await realPassages(set), questions);
      expect(ours, set).toEqual(theirs);
    }
  });
});

describe.skipIf(!haveRealData())('share of questions with a gold answer in the top 3 and top 10', () => {
  it.each([
    ['hotpotqa', 0.53, 0.74],
    ['2wikimultihopqa', 0.53, 0.65],
    ['musique', 0.24, 0.4],
    ['popqa', 0.77, 0.785],
  ])('%s', async (set, top3, top10) => {
    const questions = realQuestions(set);
    const found = await bm25(await realPassages(set)).search(
      questions.map((q) => q.question),
      10,
    );
    const share = (k: number) =>
      questions.filter((q, i) => {
        const shown = found[i]!.slice(0, k).map(({ passage }) => ` ${squad(`${passage.title} ${passage.text}`)} `);
        return q.golden_answers.some(
          (answer) => squad(answer) !== '' && shown.some((text) => text.includes(` ${squad(answer)} `)),
        );
      }).length / questions.length;
    expect(Math.abs(share(3) - top3), `top 3: ${share(3)}`).toBeLessThanOrEqual(0.01);
    expect(Math.abs(share(10) - top10), `top 10: ${share(10)}`).toBeLessThanOrEqual(0.01);
  });
});

/** Kept apart from the project's own normalisation on purpose: these shares check retrieval alone. */
const squad = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .split(/\s+/)
    .filter((word) => word !== '' && !['a', 'an', 'the'].includes(word))
    .join(' ');
