/** `crossfold serve-search`: an index behind the HTTP contract of Search-R1, until it is told to stop. */
import { Command, Option } from 'commander';
import { openSearchIndex } from '../recipe/open-retriever.ts';
import { visible } from '../report/visible.ts';
import type { SearchMode } from '../retriever/index/open.ts';
import { SERVER_SETTINGS, type ServerSettings } from '../retriever/server/app.ts';
import { MAX_TOPK } from '../retriever/server/body.ts';
import { type Serving, serveSearch } from '../retriever/server/listen.ts';
import { InfraError, messageOf, UserError } from '../util/error.ts';
import { portOption } from './address.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { openProgress } from './progress.ts';
import { openStop } from './stop.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly index: string;
  readonly host: string;
  readonly port: number;
  readonly mode?: SearchMode;
  readonly encoder?: string;
  readonly topk: number;
  readonly concurrency: number;
  readonly queue: number;
  readonly deadline: number;
  readonly maxBody: number;
  readonly json?: boolean;
}

const MIB = 1024 * 1024;

export function serveSearchCommand(terminal: Terminal): Command {
  const { topk, concurrency, queue, deadlineMs, maxBodyBytes } = SERVER_SETTINGS;
  return new Command('serve-search')
    .description(
      "Serve an index over HTTP the way Search-R1's retrieval server does: POST /retrieve, GET /health, GET /metrics",
    )
    .requiredOption('--index <dir>', 'folder that "crossfold index" wrote')
    .option('--host <address>', 'address to listen on; others than 127.0.0.1 let other machines search', '127.0.0.1')
    .addOption(portOption(8000))
    .addOption(
      new Option('--mode <name>', 'how to search (default: hybrid with --encoder, else bm25)').choices([
        'bm25',
        'dense',
        'hybrid',
      ]),
    )
    .option('--encoder <spec>', 'encoder of the index: http(s)://host:port/v1#model, or the folder of a local model')
    .addOption(countOption('--topk <n>', 'passages a query when a request does not say').default(topk))
    .addOption(countOption('--concurrency <n>', 'requests searched at once').default(concurrency))
    .addOption(countOption('--queue <n>', 'requests that may wait; more are answered with 429').default(queue))
    .addOption(countOption('--deadline <s>', 'seconds until a request is answered with 504').default(deadlineMs / 1000))
    .addOption(countOption('--max-body <MiB>', 'longest request body').default(maxBodyBytes / MIB))
    .option('--json', 'print where it listens as JSON, once it is ready')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold serve-search --index wiki.idx', 'on http://127.0.0.1:8000'],
        ['crossfold serve-search --index wiki.idx --port 8001 --encoder ./e5-base', 'words and vectors together'],
        [`curl localhost:8000/retrieve -d '{"queries": ["Oker"], "topk": 3, "return_scores": true}'`, 'ask it'],
      ]),
    )
    .action((flags: Flags) => serve(flags, terminal));
}

async function serve(flags: Flags, terminal: Terminal): Promise<void> {
  const settings = settingsOf(flags);
  const progress = openProgress(terminal, 0, flags.json === true);
  const stop = openStop(progress.say, 'request');
  try {
    const { index: dir, host, port, mode, encoder } = flags;
    const open = () =>
      openSearchIndex(dir, {
        ...(mode === undefined ? {} : { mode }),
        ...(encoder === undefined ? {} : { encoder }),
      });
    const failed = (error: unknown): void =>
      progress.warn(`A search failed: ${error instanceof InfraError ? error.message : stackOf(error)}`);
    const server = await serveSearch(open, { host, port, settings, failed });
    try {
      if (!server.local) progress.warn(`Warning: whoever reaches ${host} can search this index; there is no password`);
      progress.note(`listening on ${server.url}, opening ${dir}`);
      await untilStopped(server, stop.signal, (index) => {
        progress.close();
        const { fingerprint, passages } = index;
        if (flags.json) terminal.json({ url: server.url, index: fingerprint, passages: passages.size });
        else
          terminal.out(`${server.url}/retrieve searches ${passages.size} passages of ${visible(dir)}; Ctrl-C stops it`);
      });
    } finally {
      await server.close();
      await server.ready.then(
        (index) => index.close(),
        () => {},
      );
    }
  } finally {
    stop.close();
    progress.close();
  }
}

/** @throws what keeps the index from being served. */
function untilStopped<I>({ ready }: Serving<I>, signal: AbortSignal, told: (index: I) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    ready.then((index) => (signal.aborted ? undefined : told(index)), reject);
  });
}

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : messageOf(error);

function settingsOf({ topk, concurrency, queue, deadline, maxBody }: Flags): ServerSettings {
  if (topk > MAX_TOPK) throw new UserError(`--topk is "${topk}"; expected a whole number from 1 to ${MAX_TOPK}`);
  return { topk, concurrency, queue, deadlineMs: deadline * 1000, maxBodyBytes: maxBody * MIB };
}
