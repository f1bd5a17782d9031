/**
 * Presets are rows with every number of a run. `quick` and `standard` are sized for two cores; `paper` holds the schedule,
 * sampling, weight decay and clipping of the CrossFit paper (method.md section 1).
 *
 * Departure of `paper`: its learning rates are those of the small local policies. The published 1e-6 is for full weights of
 * 4B models and moves a policy of a million weights not at all (`--proposer-rate 1e-6 --solver-rate 1e-6` sets it).
 */
import { HOP_MIX, SCHEDULES } from '../method/schedule.ts';
import type { EvolveConfig } from './config.ts';
import type { SystemName } from './systems.ts';

export type TaskConfig = EvolveConfig['task'];
export type TaskKind = TaskConfig['kind'];
export type WorldTask = Extract<TaskConfig, { kind: 'world' }>;
export type DocsTask = Extract<TaskConfig, { kind: 'docs' }>;

/** What a preset fixes; the rest is chosen by the task. */
export type Loop = Omit<EvolveConfig, 'task' | 'policy' | 'systems' | 'seed' | 'hopMix' | 'topK'>;

export interface Preset {
  readonly about: string;
  readonly loop: Loop;
  readonly goldPerHop: WorldTask['goldPerHop'];
  readonly gold: DocsTask['gold'];
}

const base = {
  rounds: 3,
  sourcePool: 'recurring',
  responses: 5,
  estimator: 'hrpo',
  difficulty: 'linear',
  formatWeight: 0.5,
  gate: 'zero',
  lossMean: 'sequence',
  matcher: 'exact',
  proposerRate: 5e-4,
  solverRate: 1e-3,
  weightDecay: 0.01,
  workers: 2,
} as const satisfies Partial<Loop>;

export const PRESETS = {
  quick: {
    about: 'minutes on two cores',
    loop: {
      ...base,
      sources: 100,
      proposerSteps: 8,
      prompts: 64,
      admitted: 320,
      solverSteps: 20,
      questions: 64,
      auxiliarySteps: 16,
      temperature: 1,
      topP: 1,
      warmupSteps: 3,
      gradClip: 1,
    },
    goldPerHop: 250,
    gold: 300,
  },
  standard: {
    about: 'longer rounds, twice the sources',
    loop: {
      ...base,
      sources: 200,
      proposerSteps: 16,
      prompts: 64,
      admitted: 800,
      solverSteps: 25,
      questions: 64,
      auxiliarySteps: 25,
      temperature: 1,
      topP: 1,
      warmupSteps: 3,
      gradClip: 1,
    },
    goldPerHop: 300,
    gold: 600,
  },
  paper: {
    about: 'the schedule of the CrossFit paper',
    loop: {
      ...base,
      ...SCHEDULES.paper,
      // Every entity of the default world.
      sources: 240,
      auxiliarySteps: 25,
      temperature: 0.8,
      topP: 0.95,
      // 3 % of the 54 proposer and 75 solver steps of a run.
      warmupSteps: 2,
      gradClip: 0.1,
    },
    goldPerHop: 300,
    gold: 1000,
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;
export const DEFAULT_PRESET: PresetName = 'quick';

/** What a task brings: its policy, and the settings that follow from what that policy can read and write. */
interface TaskDefaults {
  readonly policy: string;
  readonly topK: number;
  readonly hopMix: EvolveConfig['hopMix'];
  readonly task: (preset: Preset) => Readonly<Record<string, unknown>>;
}

export const TASKS: Readonly<Record<TaskKind, TaskDefaults>> = {
  world: {
    policy: 'mini',
    topK: 2,
    hopMix: HOP_MIX,
    task: ({ goldPerHop }) => ({
      seed: 1,
      unverifiable: 0.25,
      firstRank: 0.75,
      miss: 0.03,
      wordings: 3,
      goldPerHop,
    }),
  },
  // The path has no default: whoever asks for documents names them.
  docs: { policy: 'reader', topK: 3, hopMix: '1:0:0:0', task: ({ gold }) => ({ gold }) },
};

export const DEFAULT_SEED = 1;

/** Systems a command runs when none is named. */
export const COMMANDS = {
  evolve: ['crossfit'],
  compare: ['dr-zero', 'crossfit'],
} as const satisfies Record<string, readonly SystemName[]>;

export type CommandName = keyof typeof COMMANDS;
