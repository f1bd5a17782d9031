/**
 * Questions about a world: chains of relations, `mentor of founder of Brask Mills ?`. The relation nearest to the name
 * is followed first. Exact truth of any question in any wording, and held-out gold questions.
 */
import type { Hops, Question } from '../types.ts';
import { UserError } from '../util/error.ts';
import { type Rng, rng } from '../util/rng.ts';
import { RELATION_BY_WORD, type Relation } from './names.ts';
import type { World } from './world.ts';

export interface ParsedQuestion {
  /** Name the chain starts from; it need not exist in a world. */
  readonly start: string;
  /** In the order they are followed: one per hop. */
  readonly relations: readonly Relation[];
  /** The wording of each relation. */
  readonly words: readonly string[];
}

export interface Chain {
  /** Entity indices, start to answer: one more than relations. */
  readonly path: readonly number[];
  readonly relations: readonly Relation[];
  /** Every fact on the way can be read in the archive. */
  readonly verifiable: boolean;
}

/** Null when the text is not a chain of known relations ending in a two-part name. The final `?` may be missing. */
export function parseQuestion(text: string): ParsedQuestion | null {
  const words = text
    .replace(/\?\s*$/, '')
    .trim()
    .split(/\s+/);
  const hops = (words.length - 2) / 2;
  if (!Number.isInteger(hops) || hops < 1) return null;
  const relations: Relation[] = [];
  const wordings: string[] = [];
  for (let i = 0; i < hops; i++) {
    const relation = RELATION_BY_WORD.get(words[2 * i]!);
    if (relation === undefined || words[2 * i + 1] !== 'of') return null;
    relations.unshift(relation);
    wordings.unshift(words[2 * i]!);
  }
  return { start: words.slice(-2).join(' '), relations, words: wordings };
}

/** The question in canonical words: equal for all that follow the same relations from the same name. Null for no chain. */
export function factOf(text: string): string | null {
  const parsed = parseQuestion(text);
  if (parsed === null) return null;
  return writeQuestion(
    parsed.start,
    parsed.relations.map(({ wordings: [canonical] }) => canonical),
  );
}

/** The true answer, from the knowledge base; null when the question has none. */
export function truth(world: World, text: string): string | null {
  const parsed = parseQuestion(text);
  let at = parsed === null ? undefined : world.byName.get(parsed.start);
  for (const relation of parsed?.relations ?? []) {
    at = at === undefined ? undefined : world.entities[at]!.facts.find((f) => f.relation === relation)?.value;
  }
  return at === undefined ? null : world.entities[at]!.name;
}

/** `relations` in the order they are followed; `words[i]` is the wording of relation i. */
export const writeQuestion = (start: string, words: readonly string[]): string =>
  `${[...words].reverse().join(' of ')} of ${start} ?`;

/** Walks `hops` random facts from `start` (a random entity when absent). */
export function sampleChain(world: World, r: Rng, hops: Hops, start = r.below(world.entities.length)): Chain {
  const path = [start];
  const relations: Relation[] = [];
  let verifiable = true;
  for (let i = 0; i < hops; i++) {
    const fact = r.pick(world.entities[path.at(-1)!]!.facts);
    relations.push(fact.relation);
    path.push(fact.value);
    verifiable &&= fact.verifiable;
  }
  return { path, relations, verifiable };
}

/** One of the wordings that this world's questions use. */
export const pickWording = (world: World, r: Rng, relation: Relation): string =>
  relation.wordings[r.below(world.options.wordings)]!;

/** Draws per wanted question before the world counts as too small. */
const PATIENCE = 200;

/** `perHop` distinct verifiable questions of each hop count, no entity visited twice; same key, same questions. */
export function goldQuestions(world: World, perHop: number, key: string): Question[] {
  return ([1, 2, 3, 4] as const).flatMap((hops) => {
    const r = rng('gold', world.options.seed, key, hops);
    const found = new Map<string, Question>();
    for (let tries = 0; found.size < perHop; tries++) {
      if (tries > PATIENCE * perHop)
        throw new UserError(
          `this world has too few verifiable ${hops}-hop questions for ${perHop}: found ${found.size}; ask for fewer or enlarge world.entities`,
        );
      const chain = sampleChain(world, r, hops);
      const start = world.entities[chain.path[0]!]!;
      const id = `gold-${hops}-${start.id}-${chain.relations.map((x) => x.wordings[0]).join('-')}`;
      if (!chain.verifiable || new Set(chain.path).size <= hops || found.has(id)) continue;
      const words = chain.relations.map((relation) => pickWording(world, r, relation));
      const answer = world.entities[chain.path.at(-1)!]!.name;
      found.set(id, {
        id,
        text: writeQuestion(start.name, words),
        source: start.id,
        hops,
        label: { answers: [answer], from: 'gold' },
      });
    }
    return [...found.values()];
  });
}
