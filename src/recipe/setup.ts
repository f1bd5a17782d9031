/** The first line of a run: what it works on, and with. */
import type { SetupRecord } from '../record.ts';
import type { Context } from '../train/context.ts';

export const setupRecord = ({ engine, task, settings }: Context, systems: readonly string[]): SetupRecord => ({
  kind: 'setup',
  systems,
  rounds: settings.rounds,
  task: task.name,
  engine: engine.fingerprint,
  base: engine.base,
  sources: task.sources.length,
  passages: task.passages,
  gold: task.gold.length,
  parameters: engine.parameters,
});
