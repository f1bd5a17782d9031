/** A checkpoint that a run goes on from and the server no longer has: asking again cures nothing, so it says what does. */
import { InfraError } from '../../../util/error.ts';
import { plainUrl } from '../../../util/http.ts';
import { Lost, Refused } from './transport.ts';

export class LostCheckpoint extends InfraError {}

/** Servers that look for the files only when they load them say so in the words of their language. */
const MISSING = /not found|no such file|does not exist|no checkpoint/i;
const FAILED = new RegExp(`failed on the server: .*(${MISSING.source})`, 'is');

/** What an error about `path` comes to when everything else that it needs was just made. */
export function checkpointError(error: unknown, path: string, url: string): unknown {
  const words = wordsOf(error);
  if (words === null) return error;
  const said = words === '' || words.includes(path) ? '' : ` (${words})`;
  return new LostCheckpoint(
    `the server at ${plainUrl(url)} no longer has the checkpoint ${path}${said}: it was started without the folder of its checkpoints, or they were cleaned up. Start it with that folder again (serve-engine: --dir) and run the same command again, or begin anew in another --run folder`,
    { cause: error },
  );
}

/** What the server says, if it says that something is not there. */
function wordsOf(error: unknown): string | null {
  if (error instanceof Lost) return error.said;
  const says =
    (error instanceof Refused && MISSING.test(error.message)) ||
    (error instanceof InfraError && !(error instanceof LostCheckpoint) && FAILED.test(error.message));
  return says ? (error as Error).message : null;
}
