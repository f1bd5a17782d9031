/** Where co-cheating can be read: questions whose wrong label several responses agree with. */
import type { Feedback } from '../../types.ts';
import type { Graded, StepOf } from './judge.ts';

/** Whose step, and the key it has in the run or the log. */
interface NamedStep<F extends Graded> extends StepOf<F> {
  readonly key: string;
  readonly record: { readonly system: string };
}

export type FalseAgreement<F extends Graded = Feedback> = Omit<F, keyof Graded> & {
  readonly system: string;
  /** Key of the step where most responses agreed. */
  readonly key: string;
  readonly question: string;
  readonly source: string;
  readonly label: string;
  readonly reference: string;
  /** Responses that match the label while both are wrong, of `responses`. */
  readonly agreeing: number;
  readonly responses: number;
  /** Steps that met the question with this label and agreed falsely. */
  readonly times: number;
};

/** Every question with a false agreement, most agreeing responses first, then most often met, then in order of the run. */
export function falseAgreements<F extends Graded = Feedback>(steps: readonly NamedStep<F>[]): FalseAgreement<F>[] {
  const found = new Map<string, FalseAgreement<F>>();
  for (const { key, record, questions } of steps) {
    for (const { feedback, verdict, pairs } of questions) {
      const agreeing = pairs.filter(({ M, P, S }) => M && !P && !S).length;
      if (!verdict.resolved || agreeing === 0) continue;
      const { question, source, label, responses, matches, references, labelVerdict, evidence, ...rest } = feedback;
      const name = JSON.stringify([record.system, question, source, label]);
      const held = found.get(name);
      const times = (held?.times ?? 0) + 1;
      if (held !== undefined && held.agreeing >= agreeing) {
        found.set(name, { ...held, times });
        continue;
      }
      const { reference } = verdict;
      const { system } = record;
      const own = { system, key, question, source, label, reference, agreeing, responses: matches.length, times };
      found.set(name, { ...rest, ...own });
    }
  }
  return [...found.values()].sort((a, b) => b.agreeing - a.agreeing || b.times - a.times);
}
