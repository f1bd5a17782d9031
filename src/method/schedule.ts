/**
 * What is drawn when (method.md section 1). A schedule fixes the counts; every draw is a pure function of
 * (seed, purpose, round, step, index), so a run is the same whatever the concurrency and wherever it was resumed.
 *
 *   audited steps a round = P + S        questions a solver step = N / S
 *   hops h ∈ {1, 2, 3, 4} with weights 4 : 3 : 2 : 1
 *
 * Departures. [ours] Every draw is keyed, never taken in order of arrival. [ours] Sources are a recurring pool: the
 * co-cheating path exists only where a source comes back in a later round. `single-pass` is the option without it.
 * Rounds count from 1, steps and indices from 0.
 */
import type { Hops } from '../types.ts';
import { UserError } from '../util/error.ts';
import { rng } from '../util/rng.ts';

export interface Schedule {
  readonly rounds: number;
  /** Proposer updates a round, and sources (prompts) in each. */
  readonly proposerSteps: number;
  readonly prompts: number;
  /** Solver updates a round, and questions in each. */
  readonly solverSteps: number;
  readonly questions: number;
  /** Questions to admit a round. */
  readonly admitted: number;
  /** Responses to each question, n. */
  readonly responses: number;
}

/** Published schedules. Dr. Zero writes questions for 132 solver steps and uses 50 of them. */
export const SCHEDULES = {
  'dr-zero': {
    rounds: 3,
    proposerSteps: 50,
    prompts: 256,
    solverSteps: 50,
    questions: 256,
    admitted: 132 * 256,
    responses: 5,
  },
  paper: {
    rounds: 3,
    proposerSteps: 18,
    prompts: 64,
    solverSteps: 25,
    questions: 64,
    admitted: 1600,
    responses: 5,
  },
} as const satisfies Record<string, Schedule>;

/** Weights of h = 1..4; a hop count that a policy cannot write has weight 0. */
export type HopMix = readonly [number, number, number, number];

export const HOP_MIX = '4:3:2:1';

/** Four whole weights, not all 0. */
export const HOP_MIX_PATTERN = /^(?!0+:0+:0+:0+$)\d{1,4}:\d{1,4}:\d{1,4}:\d{1,4}$/;

/** `text` matches HOP_MIX_PATTERN. */
export function readHopMix(text: string): HopMix {
  const [a, b, c, d] = text.split(':').map(Number);
  return [a!, b!, c!, d!];
}

/** The mix with every hop count outside `allowed` switched off. Throws UserError when nothing is left. */
export function restrictHops(mix: HopMix, allowed: readonly Hops[]): HopMix {
  const [a, b, c, d] = mix.map((weight, i) => (allowed.includes((i + 1) as Hops) ? weight : 0));
  const out: HopMix = [a!, b!, c!, d!];
  if (out.some((w) => !(w >= 0 && w < Infinity)) || out.every((w) => w === 0))
    throw new UserError(
      `hop mix ${mix.join(':')} restricted to hops [${allowed.join(', ')}] has no usable weight; give at least one allowed hop a positive weight`,
    );
  return out;
}

/** Where a draw stands in the run. */
export interface Slot {
  readonly seed: number;
  readonly purpose: string;
  readonly round: number;
  readonly step: number;
  readonly index: number;
}

export function drawHops(mix: HopMix, { seed, purpose, round, step, index }: Slot): Hops {
  // Asking for the last positive weight by position keeps rounding from ever yielding a hop of weight 0.
  const on = mix.flatMap((weight, i) => (weight > 0 ? [{ weight, hops: (i + 1) as Hops }] : []));
  return on[rng(seed, 'hops', purpose, round, step, index).weighted(on.map((o) => o.weight))]!.hops;
}

/**
 * Places `from .. from + count − 1` of an endless deal over `size` cards: one whole shuffle after another, each keyed by its
 * epoch. A stretch that crosses an epoch may hold a card twice.
 */
export function deal(size: number, from: number, count: number, ...key: readonly (string | number)[]): number[] {
  if (size < 1) throw new UserError(`cannot draw ${count} from an empty pool (${key.join(' ')})`);
  const cards = Array.from({ length: size }, (_, i) => i);
  const shuffled = new Map<number, number[]>();
  return Array.from({ length: count }, (_, i) => {
    const epoch = Math.floor((from + i) / size);
    let order = shuffled.get(epoch);
    if (!order) {
      order = rng(...key, epoch).shuffle(cards);
      shuffled.set(epoch, order);
    }
    return order[(from + i) % size]!;
  });
}

/** A run of prompts: `index` counts the prompts of this purpose since the start of the round. */
export interface SourceDraw {
  readonly seed: number;
  /** `train`: proposer updates, rounds × P × prompts of them. `write`: questions for the bank, as many as it takes. */
  readonly purpose: 'train' | 'write';
  readonly round: number;
  readonly index: number;
  readonly count: number;
}

/** How sources come round: each row gives the shuffle key and the place in it of a draw. */
export const SOURCE_POOLS = {
  /** Training prompts go through the pool epoch after epoch across rounds; each round's writing starts its own. */
  recurring: ({ purpose, round, index }, perRound) =>
    purpose === 'train'
      ? { key: 'train', from: (round - 1) * perRound + index, end: Infinity }
      : { key: `write ${round}`, from: index, end: Infinity },
  /** One shuffle cut into equal parts, one a round: training prompts first, writing gets the rest. */
  'single-pass': ({ purpose, round, index }, perRound, size, rounds) => {
    const part = Math.floor(size / rounds);
    const from = (round - 1) * part + (purpose === 'write' ? perRound : 0) + index;
    return { key: 'single', from, end: (round - 1) * part + (purpose === 'write' ? part : Math.min(part, perRound)) };
  },
} as const satisfies Record<
  string,
  (
    draw: SourceDraw,
    perRound: number,
    size: number,
    rounds: number,
  ) => { readonly key: string; readonly from: number; readonly end: number }
>;

export type SourcePool = keyof typeof SOURCE_POOLS;

/** Positions in a list of `size` sources for `draw.count` prompts. Throws UserError when a single pass runs dry. */
export function drawSources(
  pool: SourcePool,
  schedule: Pick<Schedule, 'rounds' | 'proposerSteps' | 'prompts'>,
  size: number,
  draw: SourceDraw,
): number[] {
  const place = SOURCE_POOLS[pool](draw, schedule.proposerSteps * schedule.prompts, size, schedule.rounds);
  if (place.from + draw.count > place.end)
    throw new UserError(
      `source pool "${pool}": ${size} sources are too few for prompt ${draw.index + draw.count} (${draw.purpose}) of round ${draw.round}; give more sources, fewer prompts, or use the recurring pool`,
    );
  return deal(size, place.from, draw.count, draw.seed, 'sources', place.key);
}

/**
 * Positions in a bank of `size` admitted questions for one update of `purpose` ("solver", "auxiliary 0", …). Responses are
 * grouped by their place in the batch, never by question: a batch that crosses an epoch may hold a question twice.
 */
export const drawQuestions = (
  size: number,
  count: number,
  at: { readonly seed: number; readonly purpose: string; readonly round: number; readonly step: number },
): number[] => deal(size, at.step * count, count, at.seed, 'questions', at.purpose, at.round);
