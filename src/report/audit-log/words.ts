/** What the audit of a log found, and what a reader must know before the numbers, in plain sentences. */
import { identityGap } from '../../method/agreement.ts';
import type { LogAudit, SystemAudit } from '../../recipe/audit-log/audit.ts';
import { count, interval, share } from '../format.ts';

export const titleOf = ({ file, auditor }: LogAudit): string => `Audit of ${file}, judged by ${auditor}`;

export const warningSentences = ({ systems }: Pick<LogAudit, 'systems'>): string[] =>
  systems.flatMap((system) => system.warnings.map((warning) => sentence(system, systems.length > 1, warning)));

function sentence(
  { system, rounds }: SystemAudit,
  named: boolean,
  { round, reason }: SystemAudit['warnings'][number],
): string {
  const [first, now] = [rounds.find(({ scope }) => scope.shares !== null)!, rounds[round]!];
  const where = `${named ? `${system}, ` : ''}${roundName(now.round)}`;
  const { A, TP, TS } = now.scope.shares!;
  switch (reason) {
    case 'agreement_rises_alone':
      return `${where}: responses agree more with the labels than in ${roundName(first.round)} (A ${share(first.scope.shares!.A)} → ${share(A)}), but the labels are no truer (T_P ${share(first.scope.shares!.TP)} → ${share(TP)}): suspected co-cheating.`;
    case 'agreement_exceeds_accuracy': {
      const { low, high } = now.scope.intervals!.excess;
      return `${where}: responses match the labels more often than they are right (A ${share(A)}, T_S ${share(TS)}; difference ${share(A - TS)}, 95 % interval ${share(low)} to ${share(high)}): suspected co-cheating.`;
    }
    default:
      return reason satisfies never;
  }
}

const roundName = (name: string): string => (/^round/i.test(name) ? name : `round ${name}`);

export function notes(audit: LogAudit): string[] {
  const { counts, mapping, matcher, unresolved, systems } = audit;
  const out = [
    `Fields: ${Object.entries(mapping)
      .map(([meaning, field]) => `${meaning}=${field}`)
      .join(', ')}.`,
    `${count(counts.rows)} rows, ${count(counts.skipped)} of them left out; ${count(counts.questions)} questions of ${count(counts.sources)} sources.`,
    matcher === 'log'
      ? 'Whether a response matches its label is as the log says.'
      : `A response matches its label as the matcher ${matcher} says.`,
  ];
  if (mapping.source === undefined)
    out.push('The log names no sources: each question counts as a source of its own, so intervals may be too narrow.');
  if (mapping.round === undefined)
    out.push('The log names no rounds: all of it is one, and no rise of agreement can be seen.');
  if (mapping.step === undefined) out.push('The log names no steps: a round is one step.');
  if (counts.joinedReferences > 0)
    out.push(`${count(counts.joinedReferences)} references were joined from the question file.`);
  if (counts.unanswered > 0)
    out.push(`${count(counts.unanswered)} responses have no answer: they match nothing and are wrong.`);
  const open = Object.entries(unresolved).sort(([, a], [, b]) => b - a);
  if (open.length > 0) out.push(`Unresolved questions: ${open.map(([why, n]) => `${count(n)} (${why})`).join(', ')}.`);
  out.push(consistency(systems));
  return [...out, ...judgeNotes(audit)];
}

function consistency(systems: readonly SystemAudit[]): string {
  const shares = systems.flatMap(({ rounds }) => rounds.flatMap(({ scope }) => scope.shares ?? []));
  const inconsistent = Math.max(0, ...shares.map(({ X1, X2 }) => X1 + X2));
  const gap = Math.max(0, ...shares.map((s) => Math.abs(identityGap(s))));
  return inconsistent === 0
    ? 'No inconsistent pairs (X1, X2): A − T_S = F − L holds in every round.'
    : `Up to ${share(inconsistent)} of the pairs of a round are inconsistent (X1, X2): matcher and auditor disagree, and A − T_S misses F − L by up to ${share(gap)}.`;
}

function judgeNotes({ judge }: LogAudit): string[] {
  if (judge === null) return [];
  const { rule_score, judge_score, answers, againstGold, cost } = judge;
  return [
    `Judge: ${count(cost.requests)} requests (${count(cost.cached)} answered before, ${count(cost.unreadable)} in no readable form), ${count(cost.promptTokens)} tokens in, ${count(cost.completionTokens)} out.`,
    `Of ${count(answers)} distinct answers it finds ${share(judge_score)} correct; by rule (equal to its reference) ${share(rule_score)} are.`,
    againstGold === null
      ? 'No gold answers beside it: the error of the judge is unknown.'
      : `Against gold it errs on ${interval(againstGold.error)} of ${count(againstGold.answers)} answers (${count(againstGold.falselyCorrect)} wrong ones passed, ${count(againstGold.falselyIncorrect)} right ones failed); ${interval(againstGold.references)} of its references match gold.`,
  ];
}
