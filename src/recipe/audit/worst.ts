/** Where co-cheating can be read: questions whose wrong label several responses agree with. */
import type { Hops } from '../../types.ts';
import type { JudgedStep } from './judge.ts';

export interface FalseAgreement {
  readonly system: string;
  /** Key of the step where most responses agreed. */
  readonly key: string;
  readonly question: string;
  readonly source: string;
  readonly hops: Hops;
  readonly label: string;
  readonly reference: string;
  readonly grader: string;
  /** Responses that match the label while both are wrong, of `responses`. */
  readonly agreeing: number;
  readonly responses: number;
  /** Steps that met the question with this label and agreed falsely. */
  readonly times: number;
}

/** Every question with a false agreement, most agreeing responses first, then most often met, then in order of the run. */
export function falseAgreements(steps: readonly JudgedStep[]): FalseAgreement[] {
  const found = new Map<string, FalseAgreement>();
  for (const { key, record, questions } of steps) {
    for (const { feedback, verdict, pairs } of questions) {
      const agreeing = pairs.filter(({ M, P, S }) => M && !P && !S).length;
      if (!verdict.resolved || agreeing === 0) continue;
      const { question, source, hops, label, grader, matches } = feedback;
      const name = JSON.stringify([record.system, question, source, label]);
      const held = found.get(name);
      const times = (held?.times ?? 0) + 1;
      if (held !== undefined && held.agreeing >= agreeing) {
        found.set(name, { ...held, times });
        continue;
      }
      const { reference } = verdict;
      const { system } = record;
      const responses = matches.length;
      found.set(name, { system, key, question, source, hops, label, reference, grader, agreeing, responses, times });
    }
  }
  return [...found.values()].sort((a, b) => b.agreeing - a.agreeing || b.times - a.times);
}
