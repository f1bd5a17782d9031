/** One subject in a process of its own: `subject.ts NAME FOLDER` prints a Measured as JSON. */
import { readQueries } from './corpus.ts';
import { type Measured, quantile } from './measured.ts';
import { type Search, SUBJECTS } from './subjects.ts';

/** Longest time a way of asking is measured, in milliseconds. */
const LONGEST = 5000;
const TOGETHER = 64;
const WARM_UP = 16;
/** Bytes of the process before it has read anything. */
const EMPTY = process.memoryUsage.rss();

async function measure(open: () => Promise<Search>, queries: number, needsTop: boolean): Promise<Measured> {
  const from = performance.now();
  const search = await open();
  const build = (performance.now() - from) / 1000;
  globalThis.gc?.();
  const memory = (process.memoryUsage.rss() - EMPTY) / 1e6;
  const all = Array.from({ length: queries }, (_, i) => i);
  /** Asks in groups of `size`, five times over while there is time: milliseconds of each group. */
  const times = async (size: number): Promise<number[]> => {
    const groups = Array.from({ length: Math.ceil(queries / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
    const full = groups.filter((group) => group.length === size);
    const out: number[] = [];
    const start = performance.now();
    for (let pass = 0; pass < 5; pass++)
      for (const group of full) {
        const begun = performance.now();
        if (begun - start > LONGEST && out.length > 0) return out;
        await search(group);
        out.push(performance.now() - begun);
      }
    return out;
  };
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  for (const q of all.slice(0, WARM_UP)) await search([q]);
  const [single, many] = [await times(1), await times(TOGETHER)];
  return {
    build,
    memory,
    p50: quantile(single, 0.5),
    p95: quantile(single, 0.95),
    qps1: (1000 * single.length) / sum(single),
    qps64: (1000 * TOGETHER * many.length) / sum(many),
    top: needsTop ? await search(all) : [],
  };
}

const [name, dir] = process.argv.slice(2);
const subject = SUBJECTS.find((one) => one.name === name);
if (subject !== undefined && dir !== undefined) {
  const open = subject.load(dir);
  console.log(JSON.stringify(await measure(open, readQueries(dir).queries.length, subject.group !== 'words')));
  process.exit(0);
}
