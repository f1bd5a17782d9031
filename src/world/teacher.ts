/**
 * The imperfect teacher of the `mini` policy: plays solver and proposer in a world and writes down what it did in dialect
 * `compact`. Its faults are meant: they leave the base policy something to learn.
 *
 * - Trusting the first page: when the right page is not first, it often reads the first page whatever its title.
 * - Slips: sometimes it reads another relation with the same kind of value, and says so in its think block; as proposer
 *   it sometimes asks for another relation than the one it read.
 * - Guesses: where a page is illegible it completes the name at random. As proposer it prefers legible facts.
 */

import type { Hit } from '../retriever.ts';
import { type CompactTurn, compact, writeTurn } from '../text/dialect/compact.ts';
import type { Hops, Piece } from '../types.ts';
import type { Rng } from '../util/rng.ts';
import { NAMES, type Relation } from './names.ts';
import { type Chain, pickWording, sampleChain, writeQuestion } from './question.ts';
import { noisyRank } from './search.ts';
import { ILLEGIBLE } from './vocabulary.ts';
import type { Entity, World } from './world.ts';

export interface Habits {
  /** Probability of reading the first page although another one has the right title. */
  readonly trustFirst: number;
  /** Probability of reading a relation with the same kind of value instead. */
  readonly slip: number;
  /** Probability, as proposer, of asking for a relation with the same kind of value instead of the one read. */
  readonly misask: number;
  /** Probability that a turn is preceded by an empty call and the notice that follows it. */
  readonly stumble: number;
  /** Pages a search shows. */
  readonly pages: number;
}

export const HABITS: Habits = { trustFirst: 0.5, slip: 0.05, misask: 0.05, stumble: 0.01, pages: 2 };

/** What happened: what the policy is shown, and what it says (`learn` false: an example of a fault, not to be copied). */
export type Step =
  | { readonly kind: 'shown'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'said'; readonly turn: CompactTurn; readonly learn: boolean };

export const stepPieces = (step: Step): readonly Piece[] =>
  step.kind === 'shown' ? step.pieces : writeTurn(step.turn);

interface Reading {
  readonly relation: Relation;
  readonly name: string;
}

const canonical = (relation: Relation): string => relation.wordings[0];

export function solverSteps(world: World, r: Rng, hops: Hops, habits: Habits = HABITS): Step[] {
  return solveChain(world, r, sampleChain(world, r, hops), habits);
}

function solveChain(world: World, r: Rng, { path, relations }: Chain, habits: Habits): Step[] {
  const start = world.entities[path[0]!]!.name;
  const words = relations.map((relation) => pickWording(world, r, relation));
  /** What is left of the chain after `hop`, outermost first. */
  const left = (hop: number): string[] =>
    relations
      .slice(hop + 1)
      .map(canonical)
      .reverse();
  const steps: Step[] = [{ kind: 'shown', pieces: compact.solverPrompt(writeQuestion(start, words)) }];
  let thinking = left(-1).join(' ');
  let at = start;
  relations.forEach((relation, hop) => {
    const pages = noisyRank(world, at, habits.pages).map((i) => world.entities[i]!);
    steps.push(...said(r, { thinking, action: { type: 'search', text: at } }, habits), shown(world, pages));
    const read = readPage(r, pages, at, relation, habits);
    // The value is read right after its entity and relation, as it stands on the page.
    thinking = [...left(hop), at, canonical(read.relation)].join(' ');
    at = read.name;
  });
  return [...steps, ...said(r, { thinking, action: { type: 'answer', text: at } }, habits)];
}

export function proposerSteps(world: World, r: Rng, hops: Hops, habits: Habits = HABITS): Step[] {
  const source = r.below(world.entities.length);
  const start = world.entities[source]!.name;
  const asked: string[] = [];
  const steps: Step[] = [{ kind: 'shown', pieces: compact.proposerPrompt(world.sources[source]!, hops) }];
  let pages = [world.entities[source]!];
  let at = start;
  for (let hop = 1; ; hop++) {
    const page = choosePage(r, pages, at, habits);
    const read = hop === 1 ? copyFact(r, page) : legibleFact(r, page);
    const instead = r.uniform() < habits.misask ? sameKind(r, page, read.relation) : read.relation;
    asked.push(pickWording(world, r, instead));
    const reading = `${at} ${canonical(read.relation)}`;
    if (hop === hops) {
      const question = writeQuestion(start, asked);
      const thinking = `${reading} ${read.name}`;
      return [...steps, ...said(r, { thinking, action: { type: 'propose', question, answer: read.name } }, habits)];
    }
    at = read.name;
    pages = noisyRank(world, at, habits.pages).map((i) => world.entities[i]!);
    steps.push(...said(r, { thinking: reading, action: { type: 'search', text: at } }, habits), shown(world, pages));
  }
}

/** A turn, sometimes after an empty call. */
function said(r: Rng, turn: CompactTurn, habits: Habits): Step[] {
  if (r.uniform() >= habits.stumble) return [{ kind: 'said', turn, learn: true }];
  const empty: CompactTurn = { thinking: turn.thinking, action: { type: 'search', text: '' } };
  return [
    { kind: 'said', turn: empty, learn: false },
    { kind: 'shown', pieces: compact.notice('invalid_action', null) },
    { kind: 'said', turn, learn: true },
  ];
}

export const resultPieces = (world: World, pages: readonly Entity[]): readonly Piece[] =>
  compact.searchResult(
    pages.map((page): Hit => ({ passage: world.passages[world.byName.get(page.name)!]!, score: 0 })),
    null,
  );

const shown = (world: World, pages: readonly Entity[]): Step => ({ kind: 'shown', pieces: resultPieces(world, pages) });

function choosePage(r: Rng, pages: readonly Entity[], name: string, habits: Habits): Entity {
  const right = pages.find((page) => page.name === name);
  return right === undefined || r.uniform() < habits.trustFirst ? pages[0]! : right;
}

/** What the solver takes for the value of `relation` on the page called `name`. */
function readPage(r: Rng, pages: readonly Entity[], name: string, relation: Relation, habits: Habits): Reading {
  const page = choosePage(r, pages, name, habits);
  const holder = page.facts.some((f) => f.relation === relation) ? page : (pages.find((p) => p.name === name) ?? page);
  const wanted = r.uniform() < habits.slip ? sameKind(r, holder, relation) : relation;
  const fact = holder.facts.find((f) => f.relation === wanted) ?? r.pick(holder.facts);
  return { relation: fact.relation, name: complete(r, fact.relation, fact.archive) };
}

/** Another relation of the page with the same target type; the given one where there is none. */
function sameKind(r: Rng, page: Entity, relation: Relation): Relation {
  const others = page.facts.map((f) => f.relation).filter((x) => x !== relation && x.to === relation.to);
  return others.length === 0 ? relation : r.pick(others);
}

function copyFact(r: Rng, page: Entity): Reading {
  const fact = r.pick(page.facts);
  return { relation: fact.relation, name: fact.copy };
}

function legibleFact(r: Rng, page: Entity): Reading {
  const legible = page.facts.filter((f) => f.verifiable);
  const fact = r.pick(legible.length > 0 ? legible : page.facts);
  return { relation: fact.relation, name: complete(r, fact.relation, fact.archive) };
}

/** A half-legible name with a random second part of its type. */
function complete(r: Rng, relation: Relation, name: string): string {
  return name.endsWith(ILLEGIBLE) ? name.replace(ILLEGIBLE, r.pick(NAMES[relation.to].second)) : name;
}
