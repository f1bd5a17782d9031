/**
 * Direct title search over a world: the page of that name, then its namesakes (pages sharing a name part) in keyed order,
 * then keyed other pages. Pre-training uses it; runs may put any retriever under the same noise.
 */
import type { Hit, Retriever } from '../retriever.ts';
import { rng } from '../util/rng.ts';
import { disturb, noiseName } from './noisy.ts';
import type { World } from './world.ts';

/** Entity indices, best first, without noise. */
export function directRank(world: World, query: string, k: number): number[] {
  const right = world.byName.get(query.trim());
  const r = rng('search', world.options.seed, query.trim());
  const near = query.split(/\s+/).flatMap((part) => world.byPart.get(part) ?? []);
  const order = new Set([...(right === undefined ? [] : [right]), ...r.shuffle(near)]);
  while (order.size < Math.min(k, world.entities.length)) order.add(r.below(world.entities.length));
  return [...order].slice(0, k);
}

/** Entity indices, best first, with the world's retrieval noise. */
export const noisyRank = (world: World, query: string, k: number): number[] =>
  disturb(world, query, directRank(world, query, k + 1), (i) => world.entities[i]!.name).slice(0, k);

/** The same search as a retriever, with noise. Scores are k, k − 1, … */
export const worldRetriever = (world: World): Retriever => ({
  fingerprint: `world-direct ${noiseName(world)}`,
  search: async (queries, k) =>
    queries.map((query) =>
      noisyRank(world, query, k).map((i, rank): Hit => ({ passage: world.passages[i]!, score: k - rank })),
    ),
});
