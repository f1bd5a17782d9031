/**
 * Retrieval: our BM25 beside wink-bm25-text-search in one run, one thread, the same words, settings and queries.
 * Uses the HotpotQA passages in ../shared when they are there, else made-up passages. Figures hold for this machine only.
 */
import { bm25 } from '../src/retriever/bm25.ts';
import type { Passage } from '../src/types.ts';
import { rng } from '../src/util/rng.ts';
import { haveRealData, realPassages, realQuestions } from '../test/retriever/real.ts';
import { winkSearch } from '../test/retriever/wink.ts';

interface Row {
  readonly name: string;
  /** Milliseconds. */
  readonly build: number;
  /** Milliseconds a query. */
  readonly p50: number;
  readonly p95: number;
  /** Queries a second over the whole pass. */
  readonly qps: number;
}

type Search = (query: string) => unknown;

const madeUp = (random = rng('bench')) => {
  const sentence = (words: number): string =>
    Array.from({ length: words }, () => `w${Math.floor(30_000 * random.uniform() ** 4)}`).join(' ');
  const passages = Array.from({ length: 6000 }, (_, i): Passage => {
    const id = `p${i}`;
    return { id, source: id, title: sentence(2), text: sentence(30 + random.below(80)) };
  });
  return { passages, queries: Array.from({ length: 200 }, () => sentence(16)) };
};

const { passages, queries } = haveRealData()
  ? { passages: await realPassages('hotpotqa'), queries: realQuestions('hotpotqa').map((q) => q.question) }
  : madeUp();

async function measure(name: string, open: () => Search): Promise<Row> {
  const opened = performance.now();
  const search = open();
  const build = performance.now() - opened;
  for (const query of queries) await search(query); // warm-up
  const times: number[] = [];
  for (let pass = 0; pass < 3; pass++)
    for (const query of queries) {
      const from = performance.now();
      await search(query);
      times.push(performance.now() - from);
    }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!;
  return {
    name,
    build,
    p50: at(0.5),
    p95: at(0.95),
    qps: (1000 * times.length) / times.reduce((sum, t) => sum + t, 0),
  };
}

const ours = await measure('crossfold', () => {
  const retriever = bm25(passages);
  return (query) => retriever.search([query], 10);
});
const theirs = await measure('wink', () => {
  const search = winkSearch(passages);
  return (query) => search(query, 10);
});

console.log(
  `${passages.length} passages, ${queries.length} queries × 3 after one warm-up pass, top 10, Node ${process.version}`,
);
const line = (...cells: readonly string[]): void => console.log(cells.map((cell) => cell.padStart(12)).join(''));
line('', 'build ms', 'p50 ms', 'p95 ms', 'queries/s');
for (const row of [ours, theirs])
  line(row.name, row.build.toFixed(0), row.p50.toFixed(3), row.p95.toFixed(3), row.qps.toFixed(0));
const times = (ratio: number): string => `${ratio.toFixed(1)}x`;
line(
  'faster',
  times(theirs.build / ours.build),
  times(theirs.p50 / ours.p50),
  times(theirs.p95 / ours.p95),
  times(ours.qps / theirs.qps),
);
