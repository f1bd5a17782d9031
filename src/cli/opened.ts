/** A run of evolve, compare or train opened for reading, with the task it was about. */
import { lastAddresses } from '../recipe/address.ts';
import type { TrainConfig } from '../recipe/baseline/config.ts';
import { firstComplaint } from '../recipe/complaint.ts';
import { type EvolveConfig, evolveSchema } from '../recipe/config.ts';
import { loopFrom } from '../recipe/loop-record.ts';
import { COMMANDS } from '../recipe/presets.ts';
import { runTokenizer } from '../recipe/run-engine.ts';
import { openTask } from '../recipe/task.ts';
import type { RunManifest } from '../store/manifest.ts';
import { openReader, type RunReader } from '../store/read.ts';
import type { Task } from '../train/context.ts';
import { UserError } from '../util/error.ts';

export interface OpenedRun {
  readonly reader: RunReader;
  readonly config: EvolveConfig;
  /** Names in the records: systems, or the recipe of a training baseline. */
  readonly systems: readonly string[];
  /** What a training baseline learns from; null for runs that write their own questions. */
  readonly gold: TrainConfig['gold'];
  readonly task: Task;
}

/** The settings of the loop in a manifest; null where the run has none. A training baseline keeps its own beside them. */
export function settingsIn({ recipe, config }: RunManifest): unknown {
  const { loop } = Object(config) as { readonly loop?: unknown };
  if (recipe === 'train') return typeof loop === 'object' && loop !== null ? loopFrom(loop) : null;
  return Object.hasOwn(COMMANDS, recipe) ? config : null;
}

export const systemsIn = ({ recipe, config }: RunManifest, { systems }: EvolveConfig): readonly string[] =>
  recipe === 'train' ? [(config as { readonly recipe: string }).recipe] : systems;

/** @throws UserError: another kind of run, or one of another version. */
export function configOf({ dir, manifest }: RunReader): EvolveConfig {
  const { recipe } = manifest;
  const written = settingsIn(manifest);
  if (written === null) {
    throw new UserError(
      `${dir}: a run of "${recipe}"; expected one of ${[...Object.keys(COMMANDS), 'train'].join(', ')}`,
    );
  }
  const result = evolveSchema.safeParse(written);
  if (!result.success) {
    const { message } = firstComplaint(result.error, written);
    throw new UserError(`${dir}/run.json: ${message}; the run is from another version (${manifest.codeVersion})`);
  }
  return result.data;
}

/** @throws UserError: no run there, another kind of run, or its documents or policy are gone. */
export async function openedRun(dir: string): Promise<OpenedRun> {
  const reader = await openReader(dir);
  const config = await lastAddresses(dir, configOf(reader));
  const systems = systemsIn(reader.manifest, config);
  const { recipe, config: written } = reader.manifest;
  const gold = recipe === 'train' ? (written as unknown as TrainConfig).gold : null;
  return { reader, config, systems, gold, task: await openTask(config, await runTokenizer(config)) };
}
