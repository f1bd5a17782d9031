/** `--policy` of a command that runs one: a shipped name, a checkpoint directory, or the last solver of a run. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { evolveSchema } from '../recipe/config.ts';
import { isShipped, policyDir } from '../recipe/policies.ts';
import { openReader } from '../store/read.ts';
import type { Blobs } from '../store.ts';
import { UserError } from '../util/error.ts';
import { lastSolver } from './ask.ts';
import { memoryBlobs } from './memory-blobs.ts';
import { settingsIn, systemsIn } from './opened.ts';

export interface PolicyChoice {
  /** For names of folders. */
  readonly name: string;
  /** Directory of the base policy. */
  readonly base: string;
  /** Id among `blobs`; null is the base policy itself. */
  readonly id: string | null;
  readonly blobs: Blobs;
  /** Runs that it comes from. */
  readonly parents: readonly string[];
}

/** @param spec `reader`, a directory, `RUN` or `RUN:SYSTEM`. @throws UserError when it is none of them. */
export async function choosePolicy(spec: string): Promise<PolicyChoice> {
  const run = runOf(spec);
  if (run === null) return { name: basename(spec), base: policyDir(spec), id: null, blobs: memoryBlobs(), parents: [] };
  const reader = await openReader(run.dir);
  const { recipe } = reader.manifest;
  const written = settingsIn(reader.manifest);
  if (written === null)
    throw new UserError(`${run.dir}: a run of "${recipe}"; expected one of evolve, compare or train`);
  const config = evolveSchema.safeParse(written);
  if (!config.success) throw new UserError(`${run.dir}: a run of another version (${reader.manifest.codeVersion})`);
  const { policy, engine } = config.data;
  if (engine !== undefined)
    throw new UserError(
      `${run.dir}: its weights are on a server (${engine}); name that with --engine, not with --policy`,
    );
  const systems = systemsIn(reader.manifest, config.data);
  if (run.system !== undefined && !systems.includes(run.system))
    throw new UserError(`--policy ${spec}: the run has no system "${run.system}"; it has ${systems.join(', ')}`);
  const solver = await lastSolver(reader, systems, run.system);
  return {
    name: `${basename(resolve(run.dir))}-${solver.system}`,
    base: policyDir(policy),
    id: solver.policy,
    blobs: memoryBlobs(reader.blobs),
    parents: [run.dir],
  };
}

function runOf(spec: string): { readonly dir: string; readonly system?: string } | null {
  const isRun = (dir: string): boolean => existsSync(join(dir, 'run.json'));
  if (isShipped(spec)) return null;
  if (isRun(spec)) return { dir: spec };
  const colon = spec.lastIndexOf(':');
  const dir = spec.slice(0, Math.max(0, colon));
  return colon > 0 && isRun(dir) ? { dir, system: spec.slice(colon + 1) } : null;
}
