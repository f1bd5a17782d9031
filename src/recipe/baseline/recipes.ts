/**
 * The training baselines (method.md section 7): a row each. What differs is where questions come from, what a solver may
 * search, and what happens in a round; rollouts, groups, updates and the exam are the loop's.
 */
import type { StateRef } from '../../engine.ts';
import { R_ZERO } from '../../method/r-zero.ts';
import type { StepRecord, WriteRecord } from '../../record.ts';
import { challengerStep } from '../../train/baseline/challenger.ts';
import { type Example, imitateStep } from '../../train/baseline/imitate.ts';
import { keptExamples, sampleStep } from '../../train/baseline/sample.ts';
import { sqlmStep } from '../../train/baseline/sqlm.ts';
import { writePolled } from '../../train/baseline/write.ts';
import { solverStep } from '../../train/solver.ts';
import type { EvolveConfig } from '../config.ts';
import type { Loop } from './loop.ts';

/** What a round hands to the next. A recipe with one policy has it in both places. */
export interface Policies {
  readonly proposer: StateRef;
  readonly solver: StateRef;
}

export interface Phase {
  readonly name: string;
  readonly steps: number;
  /** Work of a step, in rollouts. */
  readonly units: number;
}

export interface Recipe {
  readonly about: string;
  /** Gold questions, or none: it writes its own. */
  readonly questions: 'gold' | 'own';
  /** Searches of a solver, in training and exam; null: as many as the task has turns for. */
  readonly searches: number | null;
  phases(config: EvolveConfig): readonly Phase[];
  round(loop: Loop, round: number, start: Policies): Promise<Policies>;
}

const TRAINING = 1.5;
const rollouts = ({ questions, responses }: EvolveConfig): number => questions * responses * TRAINING;

const supervised = {
  questions: 'gold',
  phases: (c) => [{ name: 'solver', steps: c.solverSteps, units: rollouts(c) }],
  async round(loop, round, start) {
    const { context, trainee, system, gold: bank, settings } = loop;
    const solver = await loop.steps(round, 'solver', settings.solverSteps, start.solver, (before, step) =>
      solverStep(context, trainee('solver'), {
        system,
        round,
        step,
        auxiliary: null,
        before,
        bank,
        // One optimizer for the whole run.
        age: (round - 1) * settings.solverSteps + step,
      }),
    );
    return { ...start, solver };
  },
} as const satisfies Partial<Recipe>;

const imitation = (loop: Loop, round: number, start: StateRef, examples: readonly Example[], born: number) =>
  loop.steps(round, 'solver', loop.settings.solverSteps, start, (before, step) =>
    imitateStep(loop.context, loop.trainee('solver'), {
      system: loop.system,
      round,
      step,
      before,
      examples,
      age: (round - born) * loop.settings.solverSteps + step,
    }),
  );

export const RECIPES = {
  'search-r1': { about: 'GRPO on gold questions, with search', searches: 4, ...supervised },
  r1: { about: 'GRPO on gold questions, without search', searches: 0, ...supervised },
  sft: {
    about: 'fine-tuning on questions and gold answers, without search',
    questions: 'gold',
    searches: null,
    phases: (c) => [{ name: 'solver', steps: c.solverSteps, units: c.questions * (TRAINING - 1) }],
    async round(loop, round, start) {
      return { ...start, solver: await imitation(loop, round, start.solver, loop.demonstrations(), 1) };
    },
  },
  rejection: {
    about: 'fine-tuning on own trajectories that reached the gold answer',
    questions: 'gold',
    searches: null,
    phases: (c) => [
      { name: 'sample', steps: 1, units: c.admitted * c.responses },
      { name: 'solver', steps: c.solverSteps, units: rollouts(c) / 4 },
    ],
    async round(loop, round, start) {
      const { context, system, gold: bank } = loop;
      const at = { system, round, before: start.solver, bank };
      const sample = await loop.once<StepRecord>(round, 'sample', () => sampleStep(context, at));
      const examples = await keptExamples(context, at, sample);
      // A new fit to new trajectories: its optimizer starts fresh.
      const fresh = { policy: start.solver.policy, optimizer: null };
      return { ...start, solver: await imitation(loop, round, fresh, examples, round) };
    },
  },
  sqlm: {
    about: 'one policy asks and answers; labels are its majorities',
    questions: 'own',
    searches: null,
    phases: (c) => [{ name: 'solver', steps: c.solverSteps, units: c.questions + rollouts(c) }],
    async round(loop, round, start) {
      const { context, trainee, system, settings } = loop;
      const both = await loop.steps(round, 'solver', settings.solverSteps, start.solver, (before, step) =>
        sqlmStep(context, trainee('both'), {
          system,
          round,
          step,
          before,
          age: (round - 1) * settings.solverSteps + step,
        }),
      );
      return { proposer: both, solver: both };
    },
  },
  'r-zero': {
    about: "a challenger and a solver in turn; labels are the solver's majorities",
    questions: 'own',
    searches: null,
    phases: (c) => [
      { name: 'proposer', steps: c.proposerSteps, units: c.prompts * (1 + R_ZERO.answers) },
      { name: 'write', steps: 1, units: 2 * c.admitted * (1 + R_ZERO.answers) },
      { name: 'solver', steps: c.solverSteps, units: rollouts(c) },
    ],
    async round(loop, round, start) {
      const { context, trainee, system, settings } = loop;
      const solving = start.solver.policy;
      const proposer = await loop.steps(round, 'proposer', settings.proposerSteps, start.proposer, (before, step) =>
        challengerStep(context, trainee('proposer'), { system, round, step, before, solver: solving }),
      );
      const { bank } = await loop.once<WriteRecord>(round, 'write', () =>
        writePolled(context, { system, round, policy: proposer.policy, solver: solving }),
      );
      // As in the loop: the solver's weights go on, its optimizer starts fresh every round.
      const fresh = { policy: solving, optimizer: null };
      const solver = await loop.steps(round, 'solver', settings.solverSteps, fresh, (before, step) =>
        solverStep(context, trainee('solver'), { system, round, step, auxiliary: null, before, bank, age: step }),
      );
      return { proposer, solver };
    },
  },
} as const satisfies Record<string, Recipe>;

export type RecipeName = keyof typeof RECIPES;
