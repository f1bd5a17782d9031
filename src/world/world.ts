/**
 * The miniature world: a seeded knowledge base with exact truth, rendered into short pages, one entity = one source.
 *
 * Some facts are *unverifiable*: the archive page, which search returns, shows only half of the value (`Port ~`), while
 * the source copy, which the proposer reads, carries a definite value that is usually wrong. Source copies never change,
 * so the same wrong label comes back whenever its source does: what co-cheating needs (docs/method.md).
 */
import type { Passage, Source } from '../types.ts';
import { UserError } from '../util/error.ts';
import { rng } from '../util/rng.ts';
import { type EntityType, NAMES, RELATIONS_OF, type Relation, TYPES } from './names.ts';
import { ILLEGIBLE } from './vocabulary.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly entities: Readonly<Record<EntityType, number>>;
  /** How many of a relation's wordings questions use, 1..3. */
  readonly wordings: number;
  /** Share of facts that the archive shows half legible. */
  readonly unverifiable: number;
  /** Share of those whose value in the source copy is wrong. */
  readonly guessWrong: number;
  /** Probability that the right page, if found, stays the first result. */
  readonly firstRank: number;
  /** Probability that the right page is not found. */
  readonly miss: number;
}

export const WORLD_DEFAULTS: Omit<WorldOptions, 'seed'> = {
  entities: { person: 100, company: 45, book: 45, town: 50 },
  wordings: 3,
  unverifiable: 0.25,
  guessWrong: 0.85,
  firstRank: 0.75,
  miss: 0.03,
};

export interface Fact {
  readonly relation: Relation;
  /** True value: an entity index. */
  readonly value: number;
  readonly verifiable: boolean;
  /** The value as the archive page shows it. */
  readonly archive: string;
  /** The value as the source copy states it. */
  readonly copy: string;
}

export interface Entity {
  readonly id: string;
  readonly type: EntityType;
  /** First and second part joined by a space. */
  readonly name: string;
  /** In page order. */
  readonly facts: readonly Fact[];
}

export interface World {
  readonly options: WorldOptions;
  readonly entities: readonly Entity[];
  /** Name to entity index. */
  readonly byName: ReadonlyMap<string, number>;
  /** Name part to the entity indices that carry it. */
  readonly byPart: ReadonlyMap<string, readonly number[]>;
  /** Per entity: its source copy. */
  readonly sources: readonly Source[];
  /** Per entity: its archive page. */
  readonly passages: readonly Passage[];
}

export function generateWorld(options: Partial<WorldOptions> & Pick<WorldOptions, 'seed'>): World {
  const all = checked({ ...WORLD_DEFAULTS, ...options });
  const blank = TYPES.flatMap((type) => drawNames(all, type).map((name) => ({ type, name })));
  const members = (type: EntityType): number[] => blank.flatMap((e, i) => (e.type === type ? [i] : []));
  const pools = {
    person: members('person'),
    company: members('company'),
    book: members('book'),
    town: members('town'),
  };
  const names = blank.map((e) => e.name);
  return assemble(
    all,
    blank.map((e, i) => ({ id: slug(e.name), ...e, facts: drawFacts(all, e.type, i, names, pools) })),
  );
}

/** A world from given entities: pages and indexes follow from them. */
export function assemble(options: WorldOptions, entities: readonly Entity[]): World {
  const byPart = new Map<string, number[]>();
  entities.forEach((e, i) => {
    for (const part of e.name.split(' ')) byPart.set(part, [...(byPart.get(part) ?? []), i]);
  });
  return {
    options,
    entities,
    byName: new Map(entities.map((e, i) => [e.name, i])),
    byPart,
    sources: entities.map((e) => ({ id: e.id, title: e.name, text: pageText(e, 'copy') })),
    passages: entities.map((e) => ({ id: e.id, source: e.id, title: e.name, text: pageText(e, 'archive') })),
  };
}

/** One line of English: `Mara Voss: birthplace Port Ellow; Voss: home Fair Mere; Voss: … .` Every fact says whose it is. */
const pageText = (e: Entity, rendering: 'archive' | 'copy'): string =>
  `${e.name}: ${e.facts.map((f) => `${f.relation.wordings[0]} ${f[rendering]}`).join(`; ${e.name.split(' ')[1]}: `)}.`;

const slug = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

function drawNames(options: WorldOptions, type: EntityType): string[] {
  const { first, second } = NAMES[type];
  const all = first.flatMap((a) => second.map((b) => `${a} ${b}`));
  return rng('world', options.seed, 'names', type).shuffle(all).slice(0, options.entities[type]).sort();
}

function drawFacts(
  options: WorldOptions,
  type: EntityType,
  self: number,
  names: readonly string[],
  pools: Readonly<Record<EntityType, readonly number[]>>,
): Fact[] {
  const r = rng('world', options.seed, 'facts', self);
  const taken = new Set([self]);
  return r.shuffle(RELATIONS_OF[type]).map((relation) => {
    let value = r.pick(pools[relation.to]);
    while (taken.has(value)) value = r.pick(pools[relation.to]);
    taken.add(value);
    const name = names[value]!;
    if (r.uniform() >= options.unverifiable) return { relation, value, verifiable: true, archive: name, copy: name };
    const [first, second] = name.split(' ') as [string, string];
    const wrong = NAMES[relation.to].second.filter((part) => part !== second);
    const copy = r.uniform() < options.guessWrong ? `${first} ${r.pick(wrong)}` : name;
    return { relation, value, verifiable: false, archive: `${first} ${ILLEGIBLE}`, copy };
  });
}

/** Smallest number of entities of a type that leaves every page enough distinct values. */
const FEWEST = 8;

function checked(options: WorldOptions): WorldOptions {
  for (const type of TYPES) {
    const most = NAMES[type].first.length * NAMES[type].second.length;
    const n = options.entities[type];
    if (!Number.isInteger(n) || n < FEWEST || n > most)
      throw new UserError(`world.entities.${type} is ${n}: expected an integer from ${FEWEST} to ${most}`);
  }
  if (![1, 2, 3].includes(options.wordings))
    throw new UserError(`world.wordings is ${options.wordings}: expected 1, 2 or 3`);
  for (const key of ['unverifiable', 'guessWrong', 'firstRank', 'miss'] as const)
    if (!(options[key] >= 0 && options[key] <= 1))
      throw new UserError(`world.${key} is ${options[key]}: expected a number from 0 to 1`);
  return options;
}
