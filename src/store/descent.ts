/** Whose labels a frozen policy has seen: its descent followed to the base (method.md section 4). */
import type { Descent } from '../types.ts';
import { UserError } from '../util/error.ts';
import { groupBy } from '../util/group.ts';

export interface Lineage {
  /** Ids of all sources whose labels trained `policy` or a policy it comes from. UserError: unknown policy. */
  ancestry(policy: string): ReadonlySet<string>;
}

/**
 * Policies are named by content, so several records may speak of one: then it has the sources of all of them. A record
 * whose policy is its own parent is a step that left the weights as they were: it adds nothing. UserError: a circle.
 */
export function lineage(records: readonly Descent[]): Lineage {
  const origins = groupBy(
    records.filter(({ parent, policy }) => parent !== policy),
    ({ policy }) => policy,
  );
  refuseCircles(origins);
  const found = new Map<string, ReadonlySet<string>>();

  const ancestry = (policy: string): ReadonlySet<string> => {
    const sources = new Set<string>();
    const seen = new Set<string>();
    const open = [policy];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const known = found.get(at);
      if (known !== undefined) {
        for (const source of known) sources.add(source);
        continue;
      }
      for (const record of originsOf(origins, at, policy)) {
        for (const source of record.sources) sources.add(source);
        if (record.parent !== null) open.push(record.parent);
      }
    }
    found.set(policy, sources);
    return sources;
  };

  return {
    ancestry,
  };
}

function originsOf(
  origins: ReadonlyMap<string, readonly Descent[]>,
  policy: string,
  asked: string,
): readonly Descent[] {
  const known = origins.get(policy);
  if (known !== undefined) return known;
  const whose = policy === asked ? '' : ` (an ancestor of ${asked})`;
  throw new UserError(`policy ${policy}${whose} has no recorded descent; known: ${[...origins.keys()].join(', ')}`);
}

/** Takes away policies whose parents are all taken away; what is left is on or below a circle. */
function refuseCircles(origins: ReadonlyMap<string, readonly Descent[]>): void {
  const children = new Map<string, string[]>();
  const waiting = new Map<string, number>();
  for (const [policy, records] of origins) {
    const parents = records.flatMap(({ parent }) => (parent !== null && origins.has(parent) ? [parent] : []));
    waiting.set(policy, parents.length);
    for (const parent of parents) children.set(parent, [...(children.get(parent) ?? []), policy]);
  }
  const free = [...waiting].filter(([, n]) => n === 0).map(([policy]) => policy);
  for (let policy = free.pop(); policy !== undefined; policy = free.pop()) {
    waiting.delete(policy);
    for (const child of children.get(policy) ?? []) {
      const left = waiting.get(child)! - 1;
      waiting.set(child, left);
      if (left === 0) free.push(child);
    }
  }
  if (waiting.size > 0)
    throw new UserError(`descent goes in a circle among policies ${[...waiting.keys()].join(', ')}`);
}
