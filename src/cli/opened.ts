/** A run of evolve or compare opened for reading, with the task it was about. */
import { loadTokenizer } from '../engine/tokenizer-file.ts';
import { firstComplaint } from '../recipe/complaint.ts';
import { type EvolveConfig, evolveSchema } from '../recipe/config.ts';
import { policyDir } from '../recipe/policies.ts';
import { COMMANDS } from '../recipe/presets.ts';
import { openTask } from '../recipe/task.ts';
import { openReader, type RunReader } from '../store/read.ts';
import type { Task } from '../train/context.ts';
import { UserError } from '../util/error.ts';

export interface OpenedRun {
  readonly reader: RunReader;
  readonly config: EvolveConfig;
  readonly task: Task;
  /** Directory of the base policy. */
  readonly policy: string;
}

/** @throws UserError: no run there, another kind of run, or its documents or policy are gone. */
export async function openedRun(dir: string): Promise<OpenedRun> {
  const reader = await openReader(dir);
  const { recipe, config: written } = reader.manifest;
  if (!Object.hasOwn(COMMANDS, recipe)) {
    throw new UserError(`${dir}: a run of "${recipe}"; expected one of ${Object.keys(COMMANDS).join(' or ')}`);
  }
  const result = evolveSchema.safeParse(written);
  if (!result.success) {
    const { message } = firstComplaint(result.error, written);
    throw new UserError(
      `${dir}/run.json: ${message}; the run is from another version (${reader.manifest.codeVersion})`,
    );
  }
  const config = result.data;
  const policy = policyDir(config.policy);
  return { reader, config, policy, task: await openTask(config, await loadTokenizer(policy)) };
}
