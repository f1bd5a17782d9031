/** What an audit found, in plain words. */

import { identityGap } from '../method/agreement.ts';
import type { AlarmFinding } from '../method/health.ts';
import type { AuditReport, RoundAudit, SystemWarning } from '../recipe/audit.ts';
import { alarmText } from '../recipe/progress.ts';
import { leadsShared, sharedOf } from '../recipe/systems.ts';
import { askedIn } from '../train/judged.ts';
import { count, interval, share, signed } from './format.ts';

/** The symbols, for legends. */
export const SYMBOLS: readonly (readonly [symbol: string, meaning: string])[] = [
  ['T_P', 'labels that are correct'],
  ['T_S', 'responses that are correct'],
  ['A', 'agreement: responses that match the label'],
  ['F', 'false agreement: the response matches the label and both are wrong'],
  ['L', 'lost credit: a right response to a wrong label'],
  ['J/E', 'share of the pairs of question and response that the auditor could judge'],
];

/** Said when there is no warning: no proof that nothing happened. */
export const NO_WARNING =
  'No warning: agreement did not rise without the labels getting truer, nor exceed accuracy by more than its interval.';

const SCOPE_WORDS: Readonly<Record<SystemWarning['scope'], string>> = {
  scheduled: '',
  proposer: ', in proposer steps',
};

/** One sentence a warning; one that holds in all steps is not repeated for the proposer's alone. */
export function warningSentences(report: AuditReport): string[] {
  const { warnings, rounds } = report;
  const sameAs = (a: SystemWarning, b: SystemWarning) =>
    a.system === b.system && a.round === b.round && a.reason === b.reason;
  return warnings
    .filter((w) => w.scope === 'scheduled' || !warnings.some((v) => v.scope === 'scheduled' && sameAs(v, w)))
    .filter((w) => !(isShared(rounds, w) && !leadsShared(report.setup.systems, w.system)))
    .map((warning) => sentence(warning, rounds));
}

const isShared = (rounds: readonly RoundAudit[], { system, round }: SystemWarning): boolean =>
  rounds.some((r) => r.system === system && r.round === round && r.shared);

function sentence(warning: SystemWarning, rounds: readonly RoundAudit[]): string {
  const { system, round, reason, scope } = warning;
  const own = rounds.filter((r) => r.system === system && r.scopes[scope].shares !== null);
  const now = own.find((r) => r.round === round)!.scopes[scope];
  const first = own[0]!.scopes[scope];
  const where = `${isShared(rounds, warning) ? sharedOf(system) : system}, round ${round}${SCOPE_WORDS[scope]}`;
  const { A, TP, TS } = now.shares!;
  switch (reason) {
    case 'agreement_rises_alone':
      return `${where}: responses agree more with the labels than in round 1 (A ${share(first.shares!.A)} → ${share(A)}), but the labels are no truer (T_P ${share(first.shares!.TP)} → ${share(TP)}): suspected co-cheating.`;
    case 'agreement_exceeds_accuracy': {
      const { low, high } = now.intervals!.excess;
      return `${where}: responses match the labels more often than they are right (A ${share(A)}, T_S ${share(TS)}; difference ${share(A - TS)}, 95 % interval ${share(low)} to ${share(high)}): suspected co-cheating.`;
    }
    default:
      return reason satisfies never;
  }
}

/** What an alarm of the training steps says. */
export const healthLine = (found: AlarmFinding): string =>
  `${found.system}, ${found.phase} steps, from ${found.key} on (${count(found.times)}×): ${alarmText(found)}`;

/** The differences between systems at the last round, as sentences. */
export const findings = ({ contrasts }: AuditReport): string[] =>
  contrasts.map(({ a, b, round, proposer, downstream }) =>
    [
      `${b} against ${a}, round ${round}:`,
      [
        ...(proposer === null
          ? []
          : [
              `false agreement in proposer steps ${interval(proposer.F, signed)}`,
              `correct labels in proposer steps ${interval(proposer.TP, signed)}`,
            ]),
        ...(downstream === null ? [] : [`downstream EM ${interval(downstream.em, signed)}`]),
      ].join(', '),
    ].join(' '),
  );

/** Things a reader must know before reading the numbers. */
export function caveats(report: AuditReport): string[] {
  const { done, rounds, steps, setup, cost } = report;
  const out: string[] = [];
  if (!done) out.push('The run is not done: its last round may be incomplete.');
  const failed = steps.reduce((sum, { record }) => sum + record.counts.failed, 0);
  if (failed > 0) out.push(`${count(failed)} rollouts were lost to outages; they are in no figure.`);
  const { judged, unread } = askedIn(cost);
  if (unread > 0)
    out.push(
      `The judge gave no readable verdict on ${count(unread)} of ${count(judged)} pairs of answers: what hangs on them is left out.`,
    );
  const shares = rounds.flatMap((r) => r.scopes.scheduled.shares ?? []);
  const inconsistent = Math.max(0, ...shares.map(({ X1, X2 }) => X1 + X2));
  const gap = Math.max(0, ...shares.map((s) => Math.abs(identityGap(s))));
  out.push(
    inconsistent === 0
      ? 'No inconsistent pairs (X1, X2): A − T_S = F − L holds in every round.'
      : `Up to ${share(inconsistent)} of the pairs of a round are inconsistent (X1, X2): matcher and auditor disagree, and A − T_S misses F − L by up to ${share(gap)}.`,
  );
  const low = rounds.filter(({ scopes }) => scopes.scheduled.steps > 0 && scopes.scheduled.coverage < 0.5);
  if (low.length > 0)
    out.push('Less than half of the pairs could be judged in some rounds: their shares say little about the rest.');
  if (setup.systems.length > 1) out.push('Round 1 is shared by all systems.');
  return out;
}
