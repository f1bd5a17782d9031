import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bm25 } from '../../src/retriever/bm25.ts';
import { passagesOf } from '../../src/retriever/corpus/passages.ts';
import { buildIndex } from '../../src/retriever/index/build.ts';
import { openIndex } from '../../src/retriever/index/open.ts';
import type { Hit } from '../../src/retriever.ts';
import { folder } from '../store/folder.ts';
import { haveRealData, type RealQuestion, realData, realPassages, realQuestions } from './real.ts';

/** Questions with a gold answer in the title or text of their first k hits. */
function answered(questions: readonly RealQuestion[], found: readonly (readonly Hit[])[], k: number): number {
  const has = ({ golden_answers }: RealQuestion, hits: readonly Hit[]): boolean => {
    const shown = hits.slice(0, k).map(({ passage }) => ` ${squad(`${passage.title} ${passage.text}`)} `);
    return golden_answers.map(squad).some((gold) => gold !== '' && shown.some((text) => text.includes(` ${gold} `)));
  };
  return questions.filter((question, i) => has(question, found[i]!)).length / questions.length;
}

/** Kept apart from the project's own normalisation on purpose: these shares check retrieval alone. */
const squad = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .split(/\s+/)
    .filter((word) => word !== '' && !['a', 'an', 'the'].includes(word))
    .join(' ');

async function search(set: string, words: number, questions: readonly string[]) {
  const out = join(folder(), set);
  await buildIndex({ inputs: [`${realData}corpora/${set}.jsonl.gz`], out, words, version: 'test', command: 'test' });
  const index = await openIndex(out);
  try {
    return { fingerprint: index.fingerprint, found: await index.search(questions, 10) };
  } finally {
    await index.close();
  }
}

describe.skipIf(!haveRealData())('an index on disk of real passages', () => {
  it.each([
    ['hotpotqa', 0.53, 0.74],
    ['2wikimultihopqa', 0.53, 0.65],
    ['musique', 0.24, 0.4],
    ['popqa', 0.77, 0.785],
  ])(
    '%s: hits of the index in memory; answers in the top 3 and 10 as an independent implementation has them',
    async (set, top3, top10) => {
      const questions = realQuestions(set);
      const asked = questions.map((q) => q.question);
      const { fingerprint, found } = await search(set, 0, asked);
      const memory = bm25(await realPassages(set));
      expect(fingerprint).toBe(memory.fingerprint);
      expect(found).toEqual(await memory.search(asked, 10));
      const shares = [3, 10].map((k) => answered(questions, found, k));
      expect(Math.abs(shares[0]! - top3), `top 3: ${shares[0]}`).toBeLessThanOrEqual(0.01);
      expect(Math.abs(shares[1]! - top10), `top 10: ${shares[1]}`).toBeLessThanOrEqual(0.01);
    },
  );

  it('cut into passages of 100 words has the hits of the same passages in memory', async () => {
    const asked = realQuestions('hotpotqa').map((q) => q.question);
    const { fingerprint, found } = await search('hotpotqa', 100, asked);
    const cut = (await realPassages('hotpotqa')).flatMap((p) => passagesOf(p));
    const memory = bm25(cut);
    expect(fingerprint).toBe(memory.fingerprint);
    expect(found).toEqual(await memory.search(asked, 10));
  });
});
