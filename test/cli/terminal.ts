/** A terminal that keeps what is written. */
import { openTerminal, type Terminal } from '../../src/cli/terminal.ts';

export interface Recorded {
  readonly terminal: Terminal;
  out(): string;
  err(): string;
}

export function recorded(isTTY = false, env: Readonly<Record<string, string>> = {}, columns = 80): Recorded {
  const written = { out: '', err: '' };
  const stream = (name: 'out' | 'err') =>
    ({
      isTTY,
      columns,
      write: (text: string) => {
        written[name] += text;
        return true;
      },
    }) as unknown as NodeJS.WriteStream;
  return {
    terminal: openTerminal(stream('out'), stream('err'), env),
    out: () => written.out,
    err: () => written.err,
  };
}
