/**
 * What the shipped policies can do, on worlds and text they never saw. Prints the tables of docs/performance.md.
 *
 *   tsx bench/policies.ts mini [perHop]            worlds 7, 8 and 9, temperature 1
 *   tsx bench/policies.ts reader CORPORA [count]   held-out text of the corpora that the reader learnt from
 */
import { memoryBlobs } from '../src/cli/memory-blobs.ts';
import { openPolicyEngine, policyDir } from '../src/recipe/policies.ts';
import { readerProbes, readerText } from '../src/recipe/reader-text.ts';
import { MINI_WORLD, probeMini } from '../src/train/pretrain/mini-task.ts';
import { readerCorpus } from '../src/train/pretrain/reader-corpus.ts';
import { probeReader } from '../src/train/pretrain/reader-task.ts';
import { generateWorld } from '../src/world/world.ts';

const WORLDS = [7, 8, 9];
const [name, ...rest] = process.argv.slice(2);
const engine = await openPolicyEngine(policyDir(name ?? 'mini'), memoryBlobs(), 2);
if (name === 'reader') await reader(rest[0]!, Number(rest[1] ?? 400));
else await mini(Number(rest[0] ?? 200));
await engine.close();

async function mini(perHop: number): Promise<void> {
  for (const unverifiable of [MINI_WORLD.unverifiable, 0.25, 0]) {
    const sums: Record<string, number> = {};
    for (const seed of WORLDS) {
      const world = generateWorld({ seed, unverifiable });
      const shares = await probeMini(engine, engine.base.policy, world, perHop);
      for (const [key, value] of Object.entries(shares)) sums[key] = (sums[key] ?? 0) + value / WORLDS.length;
    }
    console.log(`\nunverifiable ${unverifiable}, worlds ${WORLDS.join(', ')}, ${perHop * WORLDS.length} a cell, T 1`);
    console.log(
      '| hops | solver right | solver well-formed | label right | proposal well-formed |\n|---|---|---|---|---|',
    );
    for (const h of [1, 2, 3, 4]) {
      console.log(`| ${h} | ${['S', 'So', 'P', 'Po'].map((k) => cell(sums, k, h)).join(' | ')} |`);
    }
  }
}

function cell(sums: Readonly<Record<string, number>>, kind: string, hops: number): string {
  const key = kind.endsWith('o') ? `${kind[0]}${hops}ok` : `${kind}${hops}`;
  return sums[key]!.toFixed(3);
}

async function reader(corpora: string, count: number): Promise<void> {
  const text = await readerText({ kind: 'corpora', path: corpora }, console.warn);
  const train = readerCorpus(text.sets, engine.tokenizer, 'train', text.barred);
  console.log(`${count} a cell; answers greedy after one BM25 search, proposals at T 1`);
  console.log('| text | exact match | proposal well-formed | of those, label right |\n|---|---|---|---|');
  for (const probe of readerProbes(text, train)) {
    const shares = await probeReader(engine, engine.base.policy, probe, count);
    const values = ['em', 'w', 'span'].map((k) => shares[`${probe.name}_${k}`]!.toFixed(3));
    console.log(`| ${probe.name} | ${values.join(' | ')} |`);
  }
}
