/** Work on the engine of a run, in the run's folder: opened by its settings, noted where it answered, closed whatever happens. */

import type { Engine } from '../engine.ts';
import { recordAddresses } from '../recipe/address.ts';
import type { EvolveConfig } from '../recipe/config.ts';
import { openRunEngine } from '../recipe/run-engine.ts';
import type { Run, RunSpec } from '../store/run.ts';
import { inRun } from './in-run.ts';
import type { ProgressView } from './progress.ts';

export interface EngineRun {
  readonly loop: EvolveConfig;
  readonly folder: string;
  readonly spec: RunSpec;
  readonly progress: ProgressView;
  readonly warn: (text: string) => void;
  /** Is all there? By the keys of the journal; without it, a last line says so. */
  readonly finished?: (keys: readonly string[]) => boolean;
}

export const onEngine = <T>(
  { loop, folder, spec, progress, warn, finished }: EngineRun,
  work: (run: Run, engine: Engine, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const onRun = async (run: Run, signal: AbortSignal): Promise<T> => {
    progress.note('starting the engine');
    const engine = await openRunEngine(loop, run.blobs, warn);
    try {
      await recordAddresses(folder, loop);
      return await work(run, engine, signal);
    } finally {
      await engine.close();
    }
  };
  return inRun(folder, spec, 'step', progress, onRun, '--run', finished);
};
