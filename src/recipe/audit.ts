/**
 * The audit of a run (method.md section 5): post hoc and read-only. Everything in it is computed from the journal and an
 * auditor's verdicts; it is plain JSON, and every report is a rendering of it.
 */
import type { Auditor, Verdict } from '../auditor.ts';
import { type Metrics, stepMetrics, type Warning, warnings } from '../method/agreement.ts';
import { type AlarmFinding, healthOf } from '../method/health.ts';
import type { SetupRecord, StepRecord } from '../record.ts';
import type { RunReader } from '../store/read.ts';
import type { Json } from '../store.ts';
import { auditBank, type BankAudit } from './audit/bank.ts';
import { type CostRow, costRows } from './audit/cost.ts';
import { auditDownstream, type Comparison, compare, type DownstreamAudit } from './audit/downstream.ts';
import { auditGraders, type GraderAudit } from './audit/graders.ts';
import { type JudgedStep, judgeStep } from './audit/judge.ts';
import { auditScope, contrastScopes, type Intervals, type ScopeAudit } from './audit/scope.ts';
import { type FalseAgreement, falseAgreements } from './audit/worst.ts';
import { type Line, type RoundLines, type RunLines, readRun } from './rounds.ts';
import { sharedOf } from './systems.ts';

export interface AuditReport {
  readonly dir: string;
  readonly recipe: string;
  readonly seed: number;
  readonly codeVersion: string;
  readonly config: Json;
  readonly auditor: string;
  readonly setup: SetupRecord;
  /** False: the run goes on or was stopped, and its last round may be incomplete. */
  readonly done: boolean;
  /** Each step once, in the order of the journal; a system's curve is its own steps and the shared ones. */
  readonly steps: readonly AuditedStep[];
  /** Systems in the order of the run, rounds ascending; round 1 is repeated for each. */
  readonly rounds: readonly RoundAudit[];
  readonly warnings: readonly SystemWarning[];
  readonly base: DownstreamAudit | null;
  readonly contrasts: readonly Contrast[];
  readonly falseAgreements: readonly FalseAgreement[];
  readonly graders: readonly GraderAudit[];
  readonly cost: readonly CostRow[];
  /** Alarms of the training steps; the audit's own warnings are `warnings`. */
  readonly health: readonly AlarmFinding[];
}

export interface AuditedStep {
  readonly key: string;
  readonly ms: number;
  readonly metrics: Metrics;
  /** In the order of the step's feedback. */
  readonly verdicts: readonly Verdict[];
  readonly record: Omit<StepRecord, 'feedback'>;
}

/** The scheduled steps, and the two kinds of them apart: solver steps memorise under every plan. */
const SCOPES = ['scheduled', 'proposer', 'solver'] as const;
export type Scope = (typeof SCOPES)[number];

export interface RoundAudit {
  readonly system: string;
  readonly round: number;
  readonly shared: boolean;
  readonly scopes: Readonly<Record<Scope, ScopeAudit>>;
  /** Scheduled steps, by the hop count of the question. */
  readonly byHops: Readonly<Record<string, ScopeAudit>>;
  /** Null where the plan has no auxiliaries. */
  readonly auxiliary: ScopeAudit | null;
  readonly bank: BankAudit | null;
  readonly downstream: DownstreamAudit | null;
}

export interface SystemWarning extends Warning {
  readonly system: string;
  /** `solver` is left out: solver steps memorise under every plan. */
  readonly scope: 'scheduled' | 'proposer';
}

/** Two systems at the last round that both have; differences are b − a. */
export interface Contrast {
  readonly a: string;
  readonly b: string;
  readonly round: number;
  readonly scheduled: Intervals | null;
  readonly proposer: Intervals | null;
  readonly downstream: Comparison | null;
}

/** UserError: the folder holds no run of evolve, compare or train. */
export const auditRun = async (reader: RunReader, auditor: Auditor): Promise<AuditReport> =>
  auditJudged(reader, auditor, await judgeRun(reader, auditor));

/** A run with the verdicts on what its steps graded and its banks admitted. */
export interface JudgedRun {
  readonly run: RunLines;
  readonly judged: ReadonlyMap<string, JudgedStep>;
  readonly banks: ReadonlyMap<string, BankAudit>;
}

export async function judgeRun(reader: RunReader, auditor: Auditor): Promise<JudgedRun> {
  const run = await readRun(reader);
  const judged = new Map<string, JudgedStep>();
  for (const line of run.steps) judged.set(line.key, await judgeStep(auditor, line));
  const banks = new Map<string, BankAudit>();
  for (const line of run.writes) banks.set(line.key, await auditBank(auditor, line));
  return { run, judged, banks };
}

export function auditJudged(reader: RunReader, auditor: Auditor, { run, judged, banks }: JudgedRun): AuditReport {
  const stepsOf = (lines: readonly Line<StepRecord>[]): JudgedStep[] => lines.map(({ key }) => judged.get(key)!);
  const rounds = auditRounds(run, stepsOf, banks);
  const { recipe, seed, codeVersion, config } = reader.manifest;
  return {
    dir: reader.dir,
    recipe,
    seed,
    codeVersion,
    config,
    auditor: auditor.name,
    setup: run.setup,
    done: run.done,
    steps: [...judged.values()].map(auditedStep),
    rounds,
    warnings: run.setup.systems.flatMap((system) => warningsOf(rounds, system)),
    base: run.base === null ? null : auditDownstream(run.base.record, null),
    contrasts: contrastsOf(run, stepsOf),
    falseAgreements: falseAgreements([...judged.values()].filter(({ record }) => record.phase !== 'auxiliary')),
    graders: auditGraders(run),
    cost: costRows(run),
    health: healthOf(run.steps),
  };
}

type StepsOf = (lines: readonly Line<StepRecord>[]) => readonly JudgedStep[];

function auditedStep({ key, ms, record, questions }: JudgedStep): AuditedStep {
  const { feedback, ...rest } = record;
  const evaluated = feedback.reduce((sum, { matches }) => sum + matches.length, 0);
  return {
    key,
    ms,
    metrics: stepMetrics(
      questions.flatMap(({ pairs }) => pairs),
      evaluated,
    ),
    verdicts: questions.map(({ verdict }) => verdict),
    record: rest,
  };
}

function auditRounds(run: RunLines, stepsOf: StepsOf, banks: ReadonlyMap<string, BankAudit>): RoundAudit[] {
  // The shared round is computed for the first system and is the others' too.
  const known = new Map<string, Pick<RoundAudit, 'scopes' | 'byHops' | 'downstream'>>();
  return run.rounds.map((lines) => {
    const name = `${lines.shared ? sharedOf(lines.system) : lines.system} round ${lines.round}`;
    const found = known.get(name) ?? auditRound(lines, run, stepsOf, name);
    known.set(name, found);
    const auxiliary = stepsOf(lines.auxiliary);
    return {
      system: lines.system,
      round: lines.round,
      shared: lines.shared,
      ...found,
      auxiliary:
        auxiliary.length === 0 ? null : auditScope(auxiliary, `${lines.system} round ${lines.round} auxiliary`),
      bank: lines.write === null ? null : banks.get(lines.write.key)!,
    };
  });
}

function auditRound(lines: RoundLines, run: RunLines, stepsOf: StepsOf, name: string) {
  const proposer = stepsOf(lines.proposer);
  const solver = stepsOf(lines.solver);
  const scheduled = [...proposer, ...solver];
  const hopCounts = [...new Set(scheduled.flatMap(({ record }) => record.feedback.map(({ hops }) => hops)))].sort();
  return {
    scopes: {
      scheduled: auditScope(scheduled, `${name} scheduled`),
      proposer: auditScope(proposer, `${name} proposer`),
      solver: auditScope(solver, `${name} solver`),
    },
    byHops: Object.fromEntries(
      hopCounts.map((h) => [h, auditScope(scheduled, `${name} hops ${h}`, ({ hops }) => hops === h)]),
    ),
    downstream: lines.evaluation === null ? null : auditDownstream(lines.evaluation.record, run.base?.record ?? null),
  };
}

function warningsOf(rounds: readonly RoundAudit[], system: string): SystemWarning[] {
  const own = rounds.filter((round) => round.system === system);
  return (['scheduled', 'proposer'] as const).flatMap((scope) =>
    warnings(
      own.flatMap(({ round, scopes }) => {
        const { shares, intervals } = scopes[scope];
        return shares === null || intervals === null
          ? []
          : [{ round, shares, agreement: intervals.A, excess: intervals.excess }];
      }),
    ).map((warning) => ({ ...warning, system, scope })),
  );
}

/** Every later system against the first, where both have a round of their own. */
function contrastsOf({ setup, rounds }: RunLines, stepsOf: StepsOf): Contrast[] {
  const [first, ...others] = setup.systems;
  return others.flatMap((system) => {
    const common = rounds
      .filter((b) => b.system === system && !b.shared)
      .flatMap((b) => {
        const a = rounds.find(({ system: name, round }) => name === first && round === b.round);
        return a === undefined ? [] : [{ a, b }];
      });
    const last = common.at(-1);
    if (last === undefined) return [];
    const { a, b } = last;
    const key = `${a.system} against ${b.system}, round ${b.round}`;
    return [
      {
        a: a.system,
        b: b.system,
        round: b.round,
        scheduled: contrastScopes(
          stepsOf([...a.proposer, ...a.solver]),
          stepsOf([...b.proposer, ...b.solver]),
          `${key} scheduled`,
        ),
        proposer: contrastScopes(stepsOf(a.proposer), stepsOf(b.proposer), `${key} proposer`),
        downstream:
          a.evaluation === null || b.evaluation === null ? null : compare(a.evaluation.record, b.evaluation.record),
      },
    ];
  });
}
