/**
 * Token sequences for pre-training the `mini` policy. weights[i] is the weight of predicting tokens[i] from the tokens
 * before it: 1 for what the policy says, 0 for prompts and tool results.
 */
import { compact } from '../text/dialect/compact.ts';
import type { Hops, Piece } from '../types.ts';
import type { Rng } from '../util/rng.ts';
import type { Relation } from './names.ts';
import { pickWording, writeQuestion } from './question.ts';
import { directRank } from './search.ts';
import { type Habits, proposerSteps, resultPieces, type Step, solverSteps, stepPieces } from './teacher.ts';
import { encodeWords } from './vocabulary.ts';
import type { Entity, World } from './world.ts';

export interface Trace {
  readonly tokens: readonly number[];
  readonly weights: readonly number[];
}

export const solverTrace = (world: World, r: Rng, hops: Hops, habits?: Habits): Trace =>
  traceOf(solverSteps(world, r, hops, habits));

export const proposerTrace = (world: World, r: Rng, hops: Hops, habits?: Habits): Trace =>
  traceOf(proposerSteps(world, r, hops, habits));

export const traceOf = (steps: readonly Step[]): Trace =>
  join(steps.map((step) => part(stepPieces(step), step.kind === 'said' && step.learn ? 1 : 0)));

const part = (pieces: readonly Piece[], weight: number): Trace => {
  const tokens = encodeWords(pieces);
  return { tokens, weights: tokens.map(() => weight) };
};

const join = (parts: readonly Trace[]): Trace => ({
  tokens: parts.flatMap((p) => p.tokens),
  weights: parts.flatMap((p) => p.weights),
});

const MOST_LINES = 12;
const LOOKUP = [{ tag: '<answer>' }, { tag: '<search>' }] as const;

/**
 * Dense reading practice: pages, then many look-ups over them, of which only the values are learned. No look-up occurs
 * twice, or its value could be copied from the first. Half of the drills are over search results, half over one source
 * copy as the proposer sees it.
 */
export const drill = (world: World, r: Rng): Trace =>
  r.uniform() < 0.5 ? resultDrill(world, r) : sourceDrill(world, r);

/** `<results> 2 or 3 pages </results>`, then lines `w of A B ? <think> A B r <answer> V1 V2 <end>`. */
function resultDrill(world: World, r: Rng): Trace {
  const center = world.entities[r.below(world.entities.length)]!.name;
  const pages = r.shuffle(directRank(world, center, 2 + r.below(2))).map((i) => world.entities[i]!);
  const lookups = pages.flatMap((page) => page.facts.filter((f) => f.verifiable).map((fact) => ({ page, fact })));
  // One page a relation: had another page been asked for it before, the page could be told without reading titles.
  const asked = new Set<Relation>();
  const lines = r
    .shuffle(lookups)
    .filter(({ fact }) => !asked.has(fact.relation) && asked.add(fact.relation))
    .slice(0, MOST_LINES)
    .flatMap(({ page, fact }) => {
      const question = writeQuestion(page.name, [pickWording(world, r, fact.relation)]);
      const before = [question, { tag: '<think>' }, page.name, fact.relation.wordings[0], r.pick(LOOKUP)];
      return [part(before, 0), part([fact.archive], 1), part([{ tag: '<end>' }], 0)];
    });
  return join([part(resultPieces(world, pages), 0), ...lines]);
}

/** A proposer prompt, then lines `<think> A B r V1 V2 <end>` or `<think> A B r <search> V1 V2 <end>`. */
function sourceDrill(world: World, r: Rng): Trace {
  const at = r.below(world.entities.length);
  const page: Entity = world.entities[at]!;
  const hops = (1 + r.below(4)) as Hops;
  const lines = r.shuffle(page.facts).flatMap((fact) => {
    const before: Piece[] = [{ tag: '<think>' }, page.name, fact.relation.wordings[0]];
    if (r.uniform() < 0.5) before.push({ tag: '<search>' });
    return [part(before, 0), part([fact.copy], 1), part([{ tag: '<end>' }], 0)];
  });
  return join([part(compact.proposerPrompt(world.sources[at]!, hops), 0), ...lines]);
}
