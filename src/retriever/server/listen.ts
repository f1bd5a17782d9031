/** The search server on a port: bound at once, ready when the index is, and closed without losing a reply. */
import { listenOn } from '../../util/listen.ts';
import { SERVER_SETTINGS, type ServerSettings, searchApp } from './app.ts';
import { type SearchIndex, selfProbe } from './probe.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly settings?: ServerSettings;
  /** Hears of searches that broke. */
  readonly failed?: (error: unknown) => void;
}

export interface Serving<I = SearchIndex> {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  /** Nobody but this machine reaches it; pages in its browsers do not. */
  readonly local: boolean;
  /** The index, once it has passed its probe. @throws what `open` throws; UserError for a broken index. */
  readonly ready: Promise<I>;
  /** Finishes what is under way, refuses the rest, frees the port. Connections that do not end in time are cut. */
  close(): Promise<void>;
}

/** Longer than the deadline of a request takes to be told. */
const GRACE_MS = 1000;

/** Listens before `open` is called. @throws UserError when the address cannot be had. */
export async function serveSearch<I extends SearchIndex>(
  open: () => Promise<I>,
  options: ListenOptions,
): Promise<Serving<I>> {
  const { host, port, settings = SERVER_SETTINGS, failed } = options;
  let begin = (): void => {};
  const ready = new Promise<void>((resolve) => {
    begin = resolve;
  }).then(async () => {
    const index = await open();
    await selfProbe(index).catch(async (error) => {
      await index.close?.();
      throw error;
    });
    return index;
  });
  // Whoever awaits it hears of it.
  ready.catch(() => {});
  const app = searchApp(ready, settings, failed);
  const refuse = (error: string): Response => Response.json({ error }, { status: 403 });
  const { url, local, close } = await listenOn(app.fetch, { host, port }, settings.deadlineMs, refuse);
  begin();
  return {
    url,
    local,
    ready,
    close() {
      app.drain();
      return close(settings.deadlineMs + GRACE_MS);
    },
  };
}
