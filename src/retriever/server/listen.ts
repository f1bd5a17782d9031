/** The search server on a port: bound at once, ready when the index is, and closed without losing a reply. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { codeOf } from '../../util/disk.ts';
import { InfraError, messageOf, UserError } from '../../util/error.ts';
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

export interface Listening {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  /** The index, once it has passed its probe. @throws what `open` throws; UserError for a broken index. */
  readonly ready: Promise<SearchIndex>;
  /** Finishes what is under way, refuses the rest, frees the port. Connections that do not end in time are cut. */
  close(): Promise<void>;
}

/** Listens before `open` is called. @throws UserError when the address cannot be had. */
export async function serveSearch(open: () => Promise<SearchIndex>, options: ListenOptions): Promise<Listening> {
  const { host, port, settings = SERVER_SETTINGS, failed } = options;
  let begin = (): void => {};
  const ready = new Promise<void>((resolve) => {
    begin = resolve;
  }).then(async () => {
    const index = await open();
    await selfProbe(index);
    return index;
  });
  // Whoever awaits it hears of it.
  ready.catch(() => {});
  const app = searchApp(ready, settings, failed);
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  // A body that trickles in must not hold a connection for minutes.
  server.requestTimeout = settings.deadlineMs;
  await listen(server, host, port);
  begin();
  return {
    url: urlOf(server.address() as AddressInfo),
    ready,
    close() {
      app.drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      const cut = setTimeout(() => server.closeAllConnections(), settings.deadlineMs + 1000);
      return closed.finally(() => {
        clearInterval(sweep);
        clearTimeout(cut);
      });
    },
  };
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

const listen = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, resolve);
  });

function listenError(error: Error, host: string, port: number): UserError | InfraError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new UserError(`port ${port} on ${host} is in use; stop what listens there or give another --port`);
    case 'EACCES':
      return new UserError(`port ${port} may not be used by this user; give a --port above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UserError(`--host is "${host}", which is no address of this machine; give 127.0.0.1 or 0.0.0.0`);
    default:
      return new InfraError(`cannot listen on ${host}:${port} (${messageOf(error)})`, { cause: error });
  }
}
