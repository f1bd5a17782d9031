/**
 * Self-probe of an index before it serves: passages of its own are searched for by their own words. An index whose probes
 * all find one and the same passage (collapsed vectors, a wrong encoder, a broken file) answers every query alike.
 */
import type { PassageStore, Retriever } from '../../retriever.ts';
import { UserError } from '../../util/error.ts';
import { rng } from '../../util/rng.ts';

export type SearchIndex = Retriever & { readonly passages: PassageStore; close?(): Promise<void> };

const PROBES = 16;
/** Fewer distinct probes prove nothing. */
const FEWEST = 3;
const QUERY_CHARS = 200;

/** @throws UserError when the probes show that the index is broken. */
export async function selfProbe(index: SearchIndex): Promise<void> {
  const { size } = index.passages;
  if (size === 0) throw new UserError('the index holds no passages; index some documents first');
  const random = rng('self-probe', index.fingerprint);
  const places = new Set(Array.from({ length: 4 * PROBES }, () => random.below(size)));
  const drawn = await index.passages.get([...places]);
  const queries = [...new Set(drawn.map(({ title, text }) => `${title} ${text}`.slice(0, QUERY_CHARS).trim()))]
    .filter((query) => /[\p{L}\p{N}]/u.test(query))
    .slice(0, PROBES);
  if (queries.length < FEWEST) return;
  const found = await index.search(queries, 1);
  const complaint = probeComplaint(found.map((hits) => hits[0]?.passage.id ?? null));
  if (complaint !== null)
    throw new UserError(`${complaint}. Build the index again, with the encoder it is opened with.`);
}

/** What is wrong with an index whose probes have these best passages; null when nothing is. */
export function probeComplaint(best: readonly (string | null)[]): string | null {
  const distinct = new Set(best);
  if (best.length < 2 || distinct.size > 1) return null;
  const [only] = distinct;
  return only === null
    ? `the index is broken: ${best.length} probe queries, taken from its own passages, found nothing`
    : `the index is broken: ${best.length} different probe queries all return the same passage (${JSON.stringify(only)})`;
}
