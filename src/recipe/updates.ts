/**
 * Chains of journalled updates, alone or side by side. Each update takes the state that the one before left. Chains that run
 * side by side are in step: all make their first update at once, then all their second, and the lines are journalled in the
 * order of the chains, so the journal does not depend on who was faster.
 */
import type { StateRef } from '../engine.ts';
import type { StepRecord } from '../record.ts';
import type { Scope } from '../store.ts';
import { type Dropping, dropState } from '../train/trainee.ts';

export interface Chain {
  readonly start: StateRef;
  readonly count: number;
  readonly key: (step: number) => string;
  readonly compute: (before: StateRef, step: number) => Promise<StepRecord>;
  /** Is the state after so many updates needed later? The last one always is. */
  readonly marked?: (updates: number) => boolean;
}

export interface Hooks {
  /** Before each update; throws to stop. */
  readonly begin: () => void;
  /** After each update, in the order of the journal, also for one that was there already. */
  readonly done: (key: string, record: StepRecord, step: number, count: number) => void;
}

/** Three digits, so that keys sort. */
export const stepName = (step: number): string => String(step).padStart(3, '0');

/** The state after each update, by chain. States that were replaced are dropped, unless they are marked or in `keep`. */
export async function sideBySide(
  scope: Scope,
  where: Dropping,
  chains: readonly Chain[],
  keep: readonly StateRef[],
  { begin, done }: Hooks,
): Promise<StateRef[][]> {
  const states = chains.map((): StateRef[] => []);
  const marks: StateRef[] = [];
  const stateOf = (c: number): StateRef => states[c]!.at(-1) ?? chains[c]!.start;

  const update = async (c: number, step: number, after: Promise<unknown>): Promise<void> => {
    const { compute, key, count, start, marked } = chains[c]!;
    const before = stateOf(c);
    begin();
    let replayed = true;
    const record = await scope.once<StepRecord>(
      key(step),
      () => {
        replayed = false;
        return compute(before, step);
      },
      after,
    );
    states[c]!.push(record.after);
    if (marked?.(step + 1)) marks.push(record.after);
    // Not on replay: something later may have come to the same weights since then, and need them.
    if (!replayed && before !== start)
      await dropState(where, before, [...chains.map((_, other) => stateOf(other)), ...marks, ...keep]);
    done(key(step), record, step, count);
  };

  const longest = Math.max(0, ...chains.map(({ count }) => count));
  for (let step = 0; step < longest; step++) {
    let last: Promise<unknown> = Promise.resolve();
    const updates = chains.flatMap(({ count }, c) => {
      if (step >= count) return [];
      const own = update(c, step, last);
      last = own;
      return [own];
    });
    // All have ended before one's failure is told: nobody writes behind the back of whoever hears it.
    const ends = await Promise.allSettled(updates);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
  return states;
}
