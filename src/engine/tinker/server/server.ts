/** The local engine as a Tinker server: the protocol over one engine, its checkpoints in a folder. */

import { tinkerApp } from './app.ts';
import { openBatcher } from './batcher.ts';
import { openCheckpoints } from './checkpoints.ts';
import { openFutures } from './futures.ts';
import { removeExpired } from './saving.ts';
import { openScorer } from './scorer.ts';
import { endSilent } from './sessions.ts';
import { TINKER_SETTINGS, type TinkerSettings } from './settings.ts';
import type { Served, State } from './state.ts';

export interface TinkerServerOptions extends Served {
  /** Where records of runs and checkpoints are. */
  readonly folder: string;
  readonly settings?: Partial<TinkerSettings>;
  readonly apiKey?: string | null;
  /** Hears of what broke. */
  readonly failed?: (error: unknown) => void;
  readonly now?: () => number;
}

export interface TinkerServer {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Ends silent sessions, forgets old results, removes expired checkpoints. To be called now and then. */
  sweep(): Promise<void>;
  /** Takes no new work and returns when that under way is done. The engine stays open. */
  close(): Promise<void>;
}

/** @throws UserError for a damaged record in the folder. */
export async function openTinkerServer(options: TinkerServerOptions): Promise<TinkerServer> {
  const { folder, apiKey = null, failed = () => {}, now = Date.now, ...served } = options;
  const settings = { ...TINKER_SETTINGS, ...options.settings };
  const state: State = {
    settings,
    served,
    now,
    futures: openFutures(settings, now, failed),
    checkpoints: await openCheckpoints(folder),
    scorer: openScorer(served.engine),
    sample: openBatcher(served.engine),
    sessions: new Map(),
    models: new Map(),
    samplers: new Map(),
  };
  let closing = false;
  return {
    fetch: tinkerApp(state, { apiKey, closing: () => closing, failed }).fetch,
    async sweep() {
      await endSilent(state);
      state.futures.sweep();
      await removeExpired(state);
    },
    async close() {
      closing = true;
      await state.futures.drain();
      await state.scorer.close();
    },
  };
}
