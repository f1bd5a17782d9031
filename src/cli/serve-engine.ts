/** `crossfold serve-engine`: the local engine behind the Tinker wire, until it is told to stop. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { loadEos } from '../engine/eos-file.ts';
import { openLocalEngine } from '../engine/local/local.ts';
import { openTinkerServer, type TinkerServer } from '../engine/tinker/server/server.ts';
import { MANNERS, type MannersName, TINKER_SETTINGS } from '../engine/tinker/server/settings.ts';
import { tieredBlobs } from '../engine/tinker/server/tiers.ts';
import { policyDir, readPolicy } from '../recipe/policies.ts';
import { visible } from '../report/visible.ts';
import { openBlobs } from '../store/blob.ts';
import { acquireLock } from '../store/lock.ts';
import { makeFolder } from '../util/disk.ts';
import { messageOf, UserError } from '../util/error.ts';
import { listenOn } from '../util/listen.ts';
import { portOption } from './address.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { openProgress } from './progress.ts';
import { openStop } from './stop.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly base: string;
  readonly name?: string;
  readonly dir: string;
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly like: MannersName;
  readonly maxPending: number;
  readonly sessionTimeout: number;
  readonly maxBody: number;
  readonly json?: boolean;
}

const MIB = 1024 * 1024;
const SWEEP_MS = 5_000;
/** What is under way when the server is told to stop has this long. */
const GRACE_MS = 60_000;

export function serveEngineCommand(terminal: Terminal): Command {
  const { maxPending, maxBodyBytes, sessionTimeoutMs } = TINKER_SETTINGS;
  return new Command('serve-engine')
    .description('Serve the local engine over the Tinker wire: any Tinker client trains and samples a model here')
    .requiredOption('--base <name|dir>', 'base model: mini, reader, or a directory with config.json')
    .option('--name <text>', 'what clients call it as base_model (default: what --base says)')
    .option(
      '--dir <folder>',
      'where checkpoints are kept; those of an earlier server are found again',
      'tinker-checkpoints',
    )
    .option('--host <address>', 'address to listen on; others than 127.0.0.1 let other machines in', '127.0.0.1')
    .addOption(portOption(8001))
    .addOption(countOption('--workers <n>', 'threads of the engine').default(2))
    .addOption(
      new Option('--like <server>', 'whose manners: official (repeats are recognised), tuft (strict order of requests)')
        .choices(Object.keys(MANNERS))
        .default('official'),
    )
    .addOption(countOption('--max-pending <n>', 'requests under way; more are answered with 429').default(maxPending))
    .option(
      '--session-timeout <s>',
      'seconds without a heartbeat after which a session ends; 0 is never',
      secondsOf,
      sessionTimeoutMs / 1000,
    )
    .addOption(countOption('--max-body <MiB>', 'longest request body').default(maxBodyBytes / MIB))
    .option('--json', 'print where it listens as JSON, once it is ready')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold serve-engine --base mini', 'on http://127.0.0.1:8001'],
        ['TINKER_API_KEY=tml-secret crossfold serve-engine --base ./my-model --host 0.0.0.0', 'for others, with a key'],
        [
          'TINKER_BASE_URL=http://127.0.0.1:8001 TINKER_API_KEY=tml-local python train.py',
          'a script of the Tinker SDK',
        ],
      ]),
    )
    .action((flags: Flags) => serveEngine(flags, terminal));
}

async function serveEngine(flags: Flags, terminal: Terminal): Promise<void> {
  const timeout = flags.sessionTimeout;
  const apiKey = process.env.TINKER_API_KEY || null;
  const progress = openProgress(terminal, 0, flags.json === true);
  const stop = openStop(progress.say, 'request');
  const failed = (error: unknown): void =>
    progress.warn(`A request failed: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`);
  await makeFolder(flags.dir);
  const unlock = acquireLock(join(flags.dir, 'lock'), '--dir');
  try {
    progress.note(`opening ${flags.base}`);
    // Snapshots that no checkpoint named went with the server that made them.
    const passing = join(flags.dir, 'passing');
    rmSync(passing, { recursive: true, force: true });
    const blobs = tieredBlobs(openBlobs(join(flags.dir, 'blobs')), openBlobs(passing));
    const dir = policyDir(flags.base);
    const files = await readPolicy(dir);
    const engine = await openLocalEngine({ ...files, blobs, workers: flags.workers });
    try {
      const server = await openTinkerServer({
        engine,
        blobs,
        name: flags.name ?? flags.base,
        tokenizerId: dir,
        limits: { contextLength: engine.contextLength, vocabSize: files.config.vocabSize },
        eos: await loadEos(dir, files.tokenizer),
        folder: join(flags.dir, 'runs'),
        settings: {
          ...MANNERS[flags.like],
          maxPending: flags.maxPending,
          maxBodyBytes: flags.maxBody * MIB,
          sessionTimeoutMs: timeout * 1000,
        },
        apiKey,
        failed,
      });
      await listen(server, flags, apiKey, stop.signal, { terminal, progress, failed });
    } finally {
      await engine.close();
    }
  } finally {
    unlock();
    stop.close();
    progress.close();
  }
}

interface Talk {
  readonly terminal: Terminal;
  readonly progress: ReturnType<typeof openProgress>;
  readonly failed: (error: unknown) => void;
}

async function listen(
  server: TinkerServer,
  { host, port, base, name = base, json }: Flags,
  apiKey: string | null,
  signal: AbortSignal,
  { terminal, progress, failed }: Talk,
): Promise<void> {
  const refuse = apiKey === null ? (detail: string) => Response.json({ detail }, { status: 403 }) : undefined;
  const listening = await listenOn(server.fetch, { host, port }, GRACE_MS, refuse);
  let sweeping: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    sweeping = sweeping.then(server.sweep).catch(failed);
  }, SWEEP_MS);
  try {
    if (!listening.local && apiKey === null)
      progress.warn(`Warning: whoever reaches ${host} can use this server; set TINKER_API_KEY to ask for a key`);
    progress.close();
    if (json) terminal.json({ url: listening.url, base_model: name });
    else terminal.out(`${listening.url} serves ${visible(name)} over the Tinker wire; Ctrl-C stops it`);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    clearInterval(timer);
    await sweeping;
    await server.close();
    await listening.close(GRACE_MS);
  }
}

function secondsOf(typed: string): number {
  const seconds = Number(typed);
  if (typed.trim() !== '' && seconds >= 0 && Number.isFinite(seconds)) return seconds;
  throw new UserError(`--session-timeout is "${typed}"; expected seconds, 0 or more`);
}
