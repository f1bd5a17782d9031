/** Where a server of ours listens. */
import { Option } from 'commander';
import { UserError } from '../util/error.ts';

export const portOption = (standard: number): Option =>
  new Option('--port <n>', 'port to listen on; 0 is any free one').default(standard).argParser((typed): number => {
    const port = /^\d{1,5}$/.test(typed) ? Number(typed) : Number.NaN;
    if (port <= 65_535) return port;
    throw new UserError(`--port is "${typed}"; expected a whole number from 0 to 65535`);
  });
