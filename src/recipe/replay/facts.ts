/**
 * How often a bank asks the same fact, and whose graders train on it: what tells a split of questions from a split of sources
 * (method.md section 4). A fact is asked of a source: the same chain of relations from another source may have another label.
 */
import type { Task } from '../../train/context.ts';
import type { BankQuestion } from './bank.ts';
import type { Asking } from './plan.ts';

export type FactOf = NonNullable<Task['factOf']>;

export interface BankShape {
  /** Distinct texts. */
  readonly texts: number;
  /** Distinct facts; null where no text says its fact. */
  readonly facts: number | null;
  /** Of the questions whose text says its fact, the share whose fact another one asks too; null where none does. */
  readonly repeated: number | null;
}

/** By place: the source and fact of a question, null where its text does not say. */
export const factsOf = (bank: readonly BankQuestion[], factOf: FactOf): readonly (string | null)[] =>
  bank.map(({ source, question }) => {
    const fact = factOf(question);
    return fact === null ? null : `${source}\n${fact}`;
  });

export function bankShape(bank: readonly BankQuestion[], factOf: FactOf): BankShape {
  const times = new Map<string, number>();
  for (const fact of factsOf(bank, factOf)) if (fact !== null) times.set(fact, (times.get(fact) ?? 0) + 1);
  const counts = [...times.values()];
  const sum = (some: readonly number[]) => some.reduce((total, n) => total + n, 0);
  return {
    texts: new Set(bank.map(({ question }) => question)).size,
    facts: counts.length === 0 ? null : counts.length,
    repeated: counts.length === 0 ? null : sum(counts.filter((n) => n > 1)) / sum(counts),
  };
}

/**
 * Of the questions whose text says its fact, how many have a grader whose part of the bank asks it: by the question itself, or
 * by another one.
 * @param facts by place, as `factsOf` gives them; `askings` are of the same bank.
 */
export function factsSeen(facts: readonly (string | null)[], askings: readonly Asking[]): { seen: number; of: number } {
  let [seen, of] = [0, 0];
  for (const { fit, asked } of askings) {
    const part = new Set(fit.on.map((i) => facts[i]));
    const own = asked.map((i) => facts[i] ?? null).filter((fact) => fact !== null);
    seen += own.filter((fact) => part.has(fact)).length;
    of += own.length;
  }
  return { seen, of };
}
