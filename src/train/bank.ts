/** Proposals, batch after batch, until the bank of a round is full (method.md section 1). */
import type { BankItem, WriteRecord } from '../record.ts';
import { UserError } from '../util/error.ts';
import type { Context } from './context.ts';
import { countBy } from './measure.ts';
import { type Drafted, propose } from './propose.ts';

export interface Filling {
  /** Proposals at once. */
  readonly batch: number;
  /** Gives up after this many proposals per wanted question. */
  readonly patience: number;
  /** Likely where nothing was admitted. */
  readonly cause: string;
}

/** Where a proposal goes. */
export interface Bank {
  isFull(): boolean;
  /** Its place. */
  add(item: Omit<BankItem, 'id'>): number;
  refuse(reason: string): null;
}

/** `take` sorts the proposals of one batch. @throws UserError where none is admitted */
export async function fillBank(
  context: Context,
  at: { readonly system: string; readonly round: number; readonly policy: string },
  { batch, patience, cause }: Filling,
  take: (drafted: readonly Drafted[], step: number, bank: Bank) => Promise<void>,
): Promise<Pick<WriteRecord, 'bank' | 'tried' | 'refused'>> {
  const { system, round } = at;
  const { admitted } = context.settings;
  const prompts = Math.min(batch, admitted);
  const items: BankItem[] = [];
  const refused: string[] = [];
  const bank: Bank = {
    isFull: () => items.length >= admitted,
    add: (item) => items.push({ id: `${system}/${round}/${items.length}`, ...item }) - 1,
    refuse(reason) {
      refused.push(reason);
      return null;
    },
  };
  let tried = 0;
  for (let step = 0; !bank.isFull() && tried < patience * admitted; step++) {
    const place = { purpose: 'write', round, step, index: tried, prompts, trajectories: 1 } as const;
    const drafted = await propose(context, at.policy, place);
    tried += prompts;
    await take(drafted, step, bank);
  }
  if (items.length > 0) return { bank: items, tried, refused: countBy(refused) };
  const why = Object.entries(countBy(refused)).map(([reason, n]) => `${n} ${reason}`);
  throw new UserError(
    `round ${round} of ${system}: none of ${tried} proposals was admitted (${why.join(', ')}); ${cause}: see "crossfold show RUN --rollouts", or use another --policy`,
  );
}
