/**
 * Pre-training examples of the `mini` policy: teacher traces and reading drills from worlds that exist for this alone,
 * in an order that lets looking up a value form first.
 */
import type { Hops } from '../../types.ts';
import { type Rng, rng } from '../../util/rng.ts';
import { drill, proposerTrace, solverTrace, type Trace } from '../../world/trace.ts';
import { generateWorld, type World, type WorldOptions } from '../../world/world.ts';

/** Worlds with this seed or above are for pre-training; runs and evaluations use smaller seeds. */
const FIRST_TRAINING_SEED = 1_000_000_000;
/** Every example fits. */
export const LONGEST_EXAMPLE = 320;
/** Examples drawn from one world before the next is made. */
const PER_WORLD = 128;
const SOLVER_SHARE = 0.6;

interface Stage {
  /** Share of training at which the stage ends. */
  readonly until: number;
  readonly drills: number;
  /** Weights of 1..4 hops. */
  readonly hops: readonly [number, number, number, number];
}

const STAGES: readonly Stage[] = [
  { until: 0.25, drills: 0.8, hops: [8, 2, 0, 0] },
  { until: 0.35, drills: 0.5, hops: [4, 3, 0, 0] },
  { until: Infinity, drills: 0.12, hops: [4, 3, 2, 1] },
];

/** `count` examples for the point `progress` of training; the same arguments give the same examples. */
export function* miniExamples(
  key: string,
  progress: number,
  count: number,
  options: Partial<Omit<WorldOptions, 'seed'>> = {},
): Generator<Trace> {
  const stage = STAGES.find((s) => progress < s.until)!;
  const seeds = rng('mini-examples', key, 'worlds');
  let world: World | undefined;
  for (let i = 0; i < count; i++) {
    if (world === undefined || i % PER_WORLD === 0)
      world = generateWorld({ ...options, seed: FIRST_TRAINING_SEED + seeds.below(1_000_000_000) });
    yield example(world, rng('mini-examples', key, i), stage);
  }
}

function example(world: World, r: Rng, stage: Stage): Trace {
  if (r.uniform() < stage.drills) return drill(world, r);
  const hops = (1 + r.weighted(stage.hops)) as Hops;
  return r.uniform() < SOLVER_SHARE ? solverTrace(world, r, hops) : proposerTrace(world, r, hops);
}
