/** The peer that tests and bench compare with: wink-bm25-text-search over the same words, k1 and b. */
import { createRequire } from 'node:module';
import { analyze } from '../../src/retriever/analyze.ts';
import type { Passage } from '../../src/types.ts';

interface Wink {
  defineConfig(config: object): void;
  definePrepTasks(tasks: readonly ((text: string) => readonly string[])[]): void;
  addDoc(doc: object, id: number): void;
  consolidate(digits: number): void;
  search(query: string, limit: number): readonly (readonly [string, number])[];
}

const wink = createRequire(import.meta.url)('wink-bm25-text-search') as () => Wink;

/** Search that gives positions in `passages`, best first. Needs three passages at least. */
export function winkSearch(passages: readonly Passage[]): (query: string, k: number) => readonly number[] {
  const engine = wink();
  engine.defineConfig({ fldWeights: { body: 1 }, bm25Params: { k1: 0.9, b: 0.4, k: 1 } });
  engine.definePrepTasks([analyze]);
  passages.forEach(({ title, text }, i) => {
    engine.addDoc({ body: `${title}\n${text}` }, i);
  });
  engine.consolidate(9);
  return (query, k) => engine.search(query, k).map(([id]) => Number(id));
}
