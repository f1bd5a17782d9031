/**
 * Retrieval in one run: ours beside npm and Python peers, each in a process of its own, on the same words, settings (k1 0.9,
 * b 0.4; one set of HNSW parameters), queries and top 10. Figures hold for this machine only; ratios travel better.
 * Peers are installed on the first run. Graphs are built on one thread (faiss: all); exact search uses all threads.
 *
 *   --passages N   made-up passages instead of the published ones
 *   --vectors N    vectors of 384 dimensions (default 20,000)
 *   --only A,B     subjects whose name holds one of these
 *   --no-python, --json
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { vectors, words, writeCorpus } from './peers/corpus.ts';
import { measureHttp } from './peers/http.ts';
import { installNpmPeers, installPythonPeers, lastLine } from './peers/install.ts';
import type { Measured } from './peers/measured.ts';
import { SUBJECTS, type Subject } from './peers/subjects.ts';

type Group = Subject['group'];

interface Row {
  readonly name: string;
  readonly group: Group;
  /** Or why it was skipped. */
  readonly result: Measured | string;
}

const GROUPS: readonly { readonly group: Group; readonly title: string; readonly ours: string }[] = [
  { group: 'words', title: 'BM25', ours: 'crossfold bm25' },
  { group: 'exact', title: 'Exact dense search', ours: 'crossfold exact' },
  { group: 'graph', title: 'Approximate dense search (HNSW)', ours: 'crossfold hnsw f16' },
];
const PYTHON: readonly (readonly [string, Group])[] = [
  ['bm25s', 'words'],
  ['faiss flat', 'exact'],
  ['faiss hnsw', 'graph'],
];
const DIMENSION = 384;
const HTTP = 'crossfold over HTTP';
/** Milliseconds that one subject may take. */
const LONGEST = 900_000;

const { values: flags } = parseArgs({
  options: {
    passages: { type: 'string' },
    vectors: { type: 'string', default: '20000' },
    only: { type: 'string', default: '' },
    python: { type: 'boolean', default: true },
    json: { type: 'boolean', default: false },
  },
  allowNegative: true,
});

const dir = mkdtempSync(join(tmpdir(), 'crossfold-bench-'));
const wanted = (name: string): boolean => flags.only.split(',').some((part) => name.includes(part));
const note = (text: string): void => console.error(text);

/** A subject in a process of its own. */
async function measured(program: string, args: readonly string[]): Promise<Measured | string> {
  note(`  ${args.at(-2)} …`);
  try {
    const { stdout } = await promisify(execFile)(program, [...args], { maxBuffer: 1 << 26, timeout: LONGEST });
    return JSON.parse(stdout) as Measured;
  } catch (error) {
    return error instanceof Error && 'killed' in error && error.killed
      ? `not done after ${LONGEST / 60_000} minutes`
      : lastLine(error);
  }
}

async function measureAll(queries: readonly string[]): Promise<readonly Row[]> {
  const here = (name: string): string => fileURLToPath(new URL(`./peers/${name}`, import.meta.url));
  const npm = await installNpmPeers();
  if (npm !== null) note(`npm peers are skipped: ${npm}`);
  const python = flags.python ? await installPythonPeers() : { reason: '--no-python' };
  const rows: Row[] = [];
  for (const { name, group } of SUBJECTS.filter((subject) => wanted(subject.name))) {
    const result = await measured(process.execPath, ['--expose-gc', '--import', 'tsx', here('subject.ts'), name, dir]);
    rows.push({ name, group, result });
    if (name === 'crossfold index') rows.push({ name: HTTP, group, result: await measureHttp(dir, queries) });
  }
  for (const [name, group] of PYTHON.filter((peer) => wanted(peer[0]))) {
    const result = 'reason' in python ? python.reason : await measured(python.python, [here('subject.py'), name, dir]);
    rows.push({ name, group, result });
  }
  return rows;
}

/** Share of the exact top 3 that is in the top 3 found. */
function recall(found: Measured, exact: Measured): number {
  const shared = Math.min(found.top.length, exact.top.length);
  let hits = 0;
  for (let q = 0; q < shared; q++)
    hits += exact.top[q]!.slice(0, 3).filter((at) => found.top[q]!.slice(0, 3).includes(at)).length;
  return hits / (3 * shared);
}

function print(rows: readonly Row[]): void {
  const line = (...[first, ...rest]: readonly string[]): void =>
    console.log(`${(first ?? '').padEnd(31)}${rest.map((cell) => cell.padStart(11)).join('')}`);
  const times = (ratio: number): string => `${ratio.toPrecision(ratio < 100 ? 2 : 3)}x`;
  const results = new Map(rows.flatMap(({ name, result }) => (typeof result === 'string' ? [] : [[name, result]])));
  const exact = results.get('crossfold exact');
  for (const { group, title, ours } of GROUPS) {
    const members = rows.filter((row) => row.group === group);
    if (members.length === 0) continue;
    console.log(`\n${title}`);
    line('', 'build s', 'MB', 'p50 ms', 'p95 ms', 'q/s 1', 'q/s 64', group === 'words' ? '' : 'recall@3');
    for (const { name, result: r } of members)
      if (typeof r === 'string') line(name, `skipped: ${r}`);
      else
        line(
          name,
          r.build.toFixed(2),
          r.memory.toFixed(0),
          r.p50.toFixed(3),
          r.p95.toFixed(3),
          r.qps1.toFixed(0),
          r.qps64.toFixed(0),
          group === 'words' || exact === undefined ? '' : recall(r, exact).toFixed(4),
        );
    const base = results.get(ours);
    if (base === undefined) continue;
    line(`${ours} is better by`, 'build', 'memory', 'p50', 'p95', 'q/s 1', 'q/s 64');
    for (const { name, result: r } of members)
      if (typeof r !== 'string' && name !== ours)
        line(
          `  than ${name}`,
          ...[r.build / base.build, r.memory / base.memory, r.p50 / base.p50, r.p95 / base.p95].map(times),
          ...[base.qps1 / r.qps1, base.qps64 / r.qps64].map(times),
        );
  }
}

try {
  const { what, passages, queries } = await words(flags.passages === undefined ? undefined : Number(flags.passages));
  const [count, load] = [Number(flags.vectors), loadavg()[0]!];
  writeCorpus(dir, {
    passages,
    queries,
    rows: vectors(count, DIMENSION, 'rows'),
    queryRows: vectors(queries.length, DIMENSION, 'queries'),
    dimension: DIMENSION,
  });
  const cpu = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, load ${load.toFixed(1)}, Node ${process.version}`;
  const rows = await measureAll(queries);
  if (flags.json) console.log(JSON.stringify({ machine: cpu, corpus: what, rows }, null, 2));
  else {
    console.log(`${cpu}`);
    console.log(
      `${passages.length} passages (${what}), ${count} made-up vectors of ${DIMENSION}, ${queries.length} queries, top 10`,
    );
    if (load > 0.5) console.log('The machine is not quiet: compare ratios, not times.');
    print(rows);
  }
} finally {
  rmSync(dir, { recursive: true });
}
