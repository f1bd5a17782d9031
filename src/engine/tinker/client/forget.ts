/**
 * Checkpoints that a run has replaced are removed from the server, some steps late: the line that replaced them must have
 * reached the disk by then, also when the power fails.
 */
import type { Transport } from './transport.ts';

/** Names that wait; a state is two of them. */
const LATE = 4;

/**
 * Takes names of policies and of optimizer states. An optimizer's is ignored: its file is also what its policy is loaded
 * from, and goes with that. Failures are nobody's: what stays on the server takes room and does no harm.
 */
export function openForget(transport: Pick<Transport, 'remove'>): (id: string) => Promise<void> {
  const waiting: string[] = [];
  return async (id) => {
    waiting.push(id);
    if (waiting.length <= LATE) return;
    const paths = waiting.shift()!.split('#');
    if (paths.length !== 2) return;
    for (const path of paths) {
      const [, run, kind, name] = /^[a-z]+:\/\/([^/]+)\/(weights|sampler_weights)\/([^/]+)$/.exec(path) ?? [];
      if (run === undefined) continue;
      const route = [run, 'checkpoints', kind!, name!].map(encodeURIComponent).join('/');
      await transport.remove(`training_runs/${route}`).catch(() => {});
    }
  };
}
