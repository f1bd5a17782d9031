/**
 * Retrieval noise of a world, keyed by the query: a query always meets the same fate. The right page is dropped with
 * probability `miss`, else moved behind the first other result with probability 1 − `firstRank`.
 */
import type { Retriever } from '../retriever.ts';
import { rng } from '../util/rng.ts';
import type { World } from './world.ts';

/** Reorders a ranking; `title` names an item. Queries that name no entity pass unchanged. */
export function disturb<T>(world: World, query: string, ranked: readonly T[], title: (item: T) => string): T[] {
  const name = query.trim();
  const at = ranked.findIndex((item) => title(item) === name);
  if (at < 0) return [...ranked];
  const { seed, miss, firstRank } = world.options;
  const r = rng('noise', seed, name);
  const others = ranked.filter((_, i) => i !== at);
  if (r.uniform() < miss) return others;
  if (at > 0 || r.uniform() < firstRank) return [...ranked];
  return [...others.slice(0, 1), ranked[at]!, ...others.slice(1)];
}

export const noiseName = (world: World): string =>
  `noise(seed ${world.options.seed}, first ${world.options.firstRank}, miss ${world.options.miss})`;

/** Puts the world's noise over a retriever whose passages are titled by entity names. */
export const noisy = (retriever: Retriever, world: World): Retriever => ({
  fingerprint: `${retriever.fingerprint} ${noiseName(world)}`,
  async search(queries, k) {
    const results = await retriever.search(queries, k + 1);
    return results.map((hits, i) => disturb(world, queries[i]!, hits, (hit) => hit.passage.title).slice(0, k));
  },
});
