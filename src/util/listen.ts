/** A fetch handler on a port: one line for an address that cannot be had, and a closing that loses no reply. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { codeOf } from './disk.ts';
import { InfraError, messageOf, UserError } from './error.ts';
import { isLoopback, stranger } from './loopback.ts';

export interface Listening {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  /** Nobody but this machine reaches it. */
  readonly local: boolean;
  /** Takes no new connection, waits for what is under way, cuts what has not ended after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface Address {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
}

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * @param refuse the reply to requests that a local server is not to answer (loopback.ts); left out where a key is asked for.
 * @throws UserError when the address cannot be had.
 */
export async function listenOn(
  fetch: Fetch,
  { host, port }: Address,
  requestTimeoutMs: number,
  refuse?: (why: string) => Response,
): Promise<Listening> {
  let local = true;
  const guarded: Fetch = (request) => {
    const why = local && refuse !== undefined ? stranger(request) : null;
    return why === null ? fetch(request) : refuse!(why);
  };
  const server = createAdaptorServer({ fetch: guarded, overrideGlobalObjects: false }) as Server;
  // A body that trickles in must not hold a connection for minutes.
  server.requestTimeout = requestTimeoutMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  local = isLoopback(address.address);
  return {
    url: urlOf(address),
    local,
    close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      return closed.finally(() => {
        clearInterval(idle);
        clearTimeout(cut);
      });
    },
  };
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

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
