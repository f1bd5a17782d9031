/** Work in a run folder: opens or continues the run, says which, and closes it whatever happens. */
import { openReader } from '../store/read.ts';
import { openRun, type Run, type RunSpec } from '../store/run.ts';
import type { ProgressView } from './progress.ts';
import { openStop } from './stop.ts';

/** With its plural. */
const UNITS = { step: 'steps', chunk: 'chunks', batch: 'batches' } as const;
type Unit = keyof typeof UNITS;

/**
 * @param unit what the run is stopped between, for the user. `work` hears of Ctrl-C by its signal.
 * @param elsewhere the option that names another folder
 * @param finished is all there? By the keys of the journal
 */
export async function inRun<T>(
  folder: string,
  spec: RunSpec,
  unit: Unit,
  progress: ProgressView,
  work: (run: Run, signal: AbortSignal) => Promise<T>,
  elsewhere?: string,
  finished: (keys: readonly string[]) => boolean = (keys) => keys.at(-1) === 'done',
): Promise<T> {
  const run = await openRun(folder, spec, elsewhere);
  const stop = openStop(progress.warn, unit);
  try {
    for (const warning of run.warnings) progress.warn(`Warning: ${warning}`);
    progress.say(await beginning(folder, unit, finished));
    return await work(run, stop.signal);
  } finally {
    stop.close();
    await run.close();
  }
}

/** Says whether the run begins, goes on, or is there already. */
async function beginning(folder: string, unit: Unit, finished: (keys: readonly string[]) => boolean): Promise<string> {
  const keys = (await openReader(folder)).keys();
  if (keys.length === 0) return `New run in ${folder}`;
  return finished(keys)
    ? `${folder} is finished; its report is made again`
    : `Continuing ${folder} after ${keys.at(-1)!} (${keys.length} ${UNITS[unit]} are kept)`;
}
