/** Where words go: results to stdout, everything else to stderr. Colour only on a terminal, and never under NO_COLOR. */
import picocolors from 'picocolors';
import { visibleJson } from '../report/visible.ts';

export type Colours = ReturnType<typeof picocolors.createColors>;

export interface Terminal {
  /** Results; a newline is added. */
  out(text: string): void;
  /** A result for programs. */
  json(value: unknown): void;
  /** Notes, warnings, errors; a newline is added. */
  err(text: string): void;
  /** Progress: written as it is. */
  raw(text: string): void;
  /** Can stderr show a line that is written over? */
  readonly live: boolean;
  /** Columns of stderr. */
  width(): number;
  /** Of stdout and of stderr. */
  readonly colours: { readonly out: Colours; readonly err: Colours };
}

type Env = Readonly<Record<string, string | undefined>>;
type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>;

const isLive = (stream: Stream, env: Env): boolean => stream.isTTY === true && env.TERM !== 'dumb';

/** NO_COLOR counts when it is set and not empty (no-color.org). */
const wantsColour = (stream: Stream, env: Env): boolean => isLive(stream, env) && !env.NO_COLOR;

export function openTerminal(stdout: Stream, stderr: Stream, env: Env): Terminal {
  const coloursOf = (stream: Stream): Colours => picocolors.createColors(wantsColour(stream, env));
  return {
    out: (text) => stdout.write(`${text}\n`),
    json: (value) => stdout.write(`${visibleJson(value)}\n`),
    err: (text) => stderr.write(`${text}\n`),
    raw: (text) => stderr.write(text),
    live: isLive(stderr, env),
    width: () => stderr.columns || 80,
    colours: { out: coloursOf(stdout), err: coloursOf(stderr) },
  };
}
