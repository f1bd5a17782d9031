/** Real passages and questions for tests, when the checkout has them beside it; never part of the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readSources } from '../../src/retriever/corpus/read.ts';
import { newReport } from '../../src/retriever/corpus/report.ts';
import type { Passage } from '../../src/types.ts';

export const realData = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

/** Prints why when there is none. */
export function haveRealData(): boolean {
  const have = existsSync(realData);
  if (!have) console.log(`skipped: no real corpora in ${realData}`);
  return have;
}

/** One passage a document, as the published corpora are cut already. */
export async function realPassages(set: string): Promise<readonly Passage[]> {
  const passages: Passage[] = [];
  for await (const { id, title, text } of readSources(`${realData}corpora/${set}.jsonl.gz`, newReport()))
    passages.push({ id, source: id, title, text });
  return passages;
}

export interface RealQuestion {
  readonly question: string;
  readonly golden_answers: readonly string[];
}

export const realQuestions = (set: string): readonly RealQuestion[] =>
  readFileSync(`${realData}questions/eval200/${set}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RealQuestion);
