/**
 * A server without a key that only this machine reaches is reached by the pages in its browsers too: a name that an attacker
 * points at 127.0.0.1 (DNS rebinding) makes it the page's own site. Such a server answers to names of this machine alone.
 */

/** `localhost`, `127.0.0.1`, `::1` and what else only this machine has; IPv6 with or without its brackets. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:(127(\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4})\]?)$/i.test(host);

/** The reply to a request that comes from elsewhere or is meant for somebody else; null for all others. */
export function stranger(request: Request): string | null {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  const origin = request.headers.get('origin');
  if (!isLoopback(withoutPort(host)))
    return `this server answers to localhost and 127.0.0.1 alone, and was asked as "${shown(host)}"; to let others in, start it with --host`;
  if (origin !== null && !isLocalOrigin(origin))
    return `this server answers no page of another site, and was asked by "${shown(origin)}"; ask it from a program, or from a page of this machine`;
  return null;
}

const withoutPort = (host: string): string => host.replace(/:\d{1,5}$/, '');

/** `null` is whoever has no name: a file, a frame in a sandbox. */
const isLocalOrigin = (origin: string): boolean =>
  URL.canParse(origin) && /^https?:/.test(origin) && isLoopback(new URL(origin).hostname);

const shown = (name: string): string => name.slice(0, 100);
