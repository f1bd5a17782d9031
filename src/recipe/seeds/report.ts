/**
 * Several runs as one comparison (method.md sections 5 and 6): per system and round the mean and deviation over seeds, and the
 * paired difference to the first system with two intervals: over sources (what another draw of sources would give) and over
 * seeds (what another run would give). Runs may hold different systems; a seed counts where it has the figure.
 */
import type { Auditor } from '../../auditor.ts';
import type { Interval } from '../../method/statistics.ts';
import { canonical } from '../../store/json.ts';
import type { RunReader } from '../../store/read.ts';
import type { Json } from '../../store.ts';
import { UserError } from '../../util/error.ts';
import type { JudgedStep } from '../audit/judge.ts';
import { contrastScopes, MEASURES, type Measure, type ScopeAudit } from '../audit/scope.ts';
import { type AuditReport, auditJudged, type JudgedRun, judgeRun, type RoundAudit } from '../audit.ts';
import type { RoundLines } from '../rounds.ts';
import { type SystemCost, systemCost } from './cost.ts';
import { type QuestionFigures, questionFigures } from './questions.ts';
import { type Spread, spreadOf, tInterval } from './spread.ts';

export const SCOPES = ['scheduled', 'proposer', 'solver'] as const;
export type Scope = (typeof SCOPES)[number];

type MeasureSpreads = Readonly<Record<Measure, Spread>>;

export interface SeedRound {
  readonly system: string;
  readonly round: number;
  readonly shared: boolean;
  readonly seeds: readonly number[];
  readonly scopes: Readonly<Record<Scope, MeasureSpreads>>;
  readonly coverage: Spread;
  /** Exam after the round; null before the first seed has it. */
  readonly em: Spread | null;
  readonly coverEm: Spread | null;
  /** Share of the bank's labels that are right. */
  readonly bankTP: Spread | null;
  /** Of the first seed that has the round. */
  readonly questions: QuestionFigures;
}

export interface PairedFigure {
  readonly difference: Spread;
  readonly overSources: Interval | null;
  readonly overSeeds: Interval | null;
}

export interface SeedContrast {
  readonly a: string;
  readonly b: string;
  readonly round: number;
  readonly seeds: readonly number[];
  readonly scheduled: Readonly<Record<Measure, PairedFigure>>;
  readonly proposer: Readonly<Record<Measure, PairedFigure>>;
  readonly em: PairedFigure | null;
}

export interface SeedsReport {
  readonly dirs: readonly string[];
  readonly seeds: readonly number[];
  readonly systems: readonly string[];
  readonly task: string;
  readonly auditor: string;
  readonly parameters: number | null;
  readonly config: Json;
  readonly done: boolean;
  readonly base: Spread | null;
  readonly rounds: readonly SeedRound[];
  readonly contrasts: readonly SeedContrast[];
  /** Means over seeds. */
  readonly costs: Readonly<Record<string, SystemCost>>;
  readonly warnings: readonly {
    readonly seed: number;
    readonly system: string;
    readonly round: number;
    readonly scope: string;
  }[];
}

interface SeedRun extends JudgedRun {
  readonly seed: number;
  readonly report: AuditReport;
}

/** Settings that runs of one comparison may differ in. */
const FREE = ['seed', 'systems'];

/** UserError: the runs were made with different settings, or two hold the same system and seed. */
export async function seedsReport(
  runs: readonly { readonly reader: RunReader; readonly auditor: Auditor }[],
): Promise<SeedsReport> {
  const opened: SeedRun[] = [];
  for (const { reader, auditor } of runs) {
    const judged = await judgeRun(reader, auditor);
    opened.push({ ...judged, seed: reader.manifest.seed, report: auditJudged(reader, auditor, judged) });
  }
  checkAlike(opened);
  const systems = [...new Set(opened.flatMap(({ report }) => report.setup.systems))];
  const seeds = [...new Set(opened.map(({ seed }) => seed))].sort((a, b) => a - b);
  const first = opened[0]!.report;
  const rounds = systems.flatMap((system) =>
    Array.from({ length: first.setup.rounds }, (_, r) => seedRound(opened, system, r + 1)).flatMap((r) => r ?? []),
  );
  const bases = opened.flatMap(({ report }) => report.base?.all?.em.point ?? []);
  return {
    dirs: opened.map(({ report }) => report.dir),
    seeds,
    systems,
    task: first.setup.task,
    auditor: first.auditor,
    parameters: first.setup.parameters,
    config: first.config,
    done: opened.every(({ report }) => report.done),
    base: bases.length === 0 ? null : spreadOf(bases),
    rounds,
    contrasts: systems
      .slice(1)
      .flatMap((b) =>
        rounds
          .filter((r) => r.system === b && !r.shared)
          .flatMap((r) => contrast(opened, systems[0]!, b, r.round) ?? []),
      ),
    costs: Object.fromEntries(systems.map((system) => [system, meanCost(opened, system)])),
    warnings: opened.flatMap(({ seed, report }) =>
      report.warnings.map(({ system, round, scope }) => ({ seed, system, round, scope })),
    ),
  };
}

function checkAlike(runs: readonly SeedRun[]): void {
  const plain = (config: Json): string =>
    canonical(Object.fromEntries(Object.entries(config as object).filter(([name]) => !FREE.includes(name))));
  const [first] = runs;
  if (first === undefined) throw new UserError('no run was named; give the folders of runs of evolve or compare');
  for (const { report } of runs)
    if (plain(report.config) !== plain(first.report.config))
      throw new UserError(
        `${report.dir} and ${first.report.dir} were made with different settings; only seed and systems may differ in one comparison (see run.json in both)`,
      );
  const seen = new Map<string, string>();
  for (const { seed, report } of runs)
    for (const system of report.setup.systems) {
      const key = `${system}, seed ${seed}`;
      if (seen.has(key)) throw new UserError(`${report.dir} and ${seen.get(key)} both hold ${key}; name one of them`);
      seen.set(key, report.dir);
    }
}

const roundIn = ({ report }: SeedRun, system: string, round: number): RoundAudit | undefined =>
  report.rounds.find((r) => r.system === system && r.round === round);
const linesIn = ({ run }: SeedRun, system: string, round: number): RoundLines =>
  run.rounds.find((r) => r.system === system && r.round === round)!;

function seedRound(runs: readonly SeedRun[], system: string, round: number): SeedRound | null {
  const own = runs.flatMap((run) => {
    const audit = roundIn(run, system, round);
    return audit === undefined || audit.scopes.scheduled.shares === null ? [] : [{ run, audit }];
  });
  if (own.length === 0) return null;
  const figures = (of: (audit: RoundAudit) => number | undefined): Spread | null => {
    const values = own.flatMap(({ audit }) => of(audit) ?? []);
    return values.length === 0 ? null : spreadOf(values);
  };
  const lines = linesIn(own[0]!.run, system, round);
  return {
    system,
    round,
    shared: own[0]!.audit.shared,
    seeds: own.map(({ run }) => run.seed),
    scopes: Object.fromEntries(
      SCOPES.map((scope) => [
        scope,
        spreads((m) => own.flatMap(({ audit }) => measureOf(audit.scopes[scope], m) ?? [])),
      ]),
    ) as Record<Scope, MeasureSpreads>,
    coverage: spreadOf(own.map(({ audit }) => audit.scopes.scheduled.coverage)),
    em: figures((audit) => audit.downstream?.all?.em.point),
    coverEm: figures((audit) => audit.downstream?.all?.coverEm.point),
    bankTP: figures((audit) => audit.bank?.TP?.point),
    questions: questionFigures(
      lines.write?.record.bank ?? [],
      lines.proposer.map(({ record }) => record),
    ),
  };
}

const spreads = (values: (m: Measure) => readonly number[]): MeasureSpreads =>
  Object.fromEntries(MEASURES.map((m) => [m, spreadOf(values(m))])) as Record<Measure, Spread>;

const measureOf = ({ shares }: ScopeAudit, m: Measure): number | null =>
  shares === null ? null : m === 'excess' ? shares.A - shares.TS : shares[m];

/** b − a where a seed has both; steps of all seeds share one pool of sources. */
function contrast(runs: readonly SeedRun[], a: string, b: string, round: number): SeedContrast | null {
  const both = runs.flatMap((run) => {
    const [before, after] = [partner(runs, run, a, round), roundIn(run, b, round)];
    return before === null || after === undefined ? [] : [{ run, before, after }];
  });
  if (both.length === 0) return null;
  const paired = (scope: 'scheduled' | 'proposer'): Readonly<Record<Measure, PairedFigure>> => {
    const stepsOf = (run: SeedRun, system: string): readonly JudgedStep[] => {
      const lines = linesIn(run, system, round);
      const parts = scope === 'proposer' ? lines.proposer : [...lines.proposer, ...lines.solver];
      return parts.map(({ key }) => run.judged.get(key)!);
    };
    const over = contrastScopes(
      both.flatMap(({ before }) => stepsOf(before.run, a)),
      both.flatMap(({ run }) => stepsOf(run, b)),
      `${a} against ${b}, round ${round} ${scope}, all seeds`,
    );
    return Object.fromEntries(
      MEASURES.map((m) => {
        const values = both.flatMap(({ before, after }) => {
          const [x, y] = [measureOf(before.audit.scopes[scope], m), measureOf(after.scopes[scope], m)];
          return x === null || y === null ? [] : [y - x];
        });
        const difference = spreadOf(values);
        return [m, { difference, overSources: over?.[m] ?? null, overSeeds: tInterval(difference) }];
      }),
    ) as Record<Measure, PairedFigure>;
  };
  const exams = both.flatMap(({ before, after }) => {
    const [x, y] = [before.audit.downstream?.all?.em.point, after.downstream?.all?.em.point];
    return x === undefined || y === undefined ? [] : [y - x];
  });
  const em = exams.length === 0 ? null : spreadOf(exams);
  return {
    a,
    b,
    round,
    seeds: both.map(({ run }) => run.seed),
    scheduled: paired('scheduled'),
    proposer: paired('proposer'),
    em: em === null ? null : { difference: em, overSources: null, overSeeds: tInterval(em) },
  };
}

/** Where the same seed ran the other system: the same run, or one that was added. */
function partner(runs: readonly SeedRun[], { seed }: SeedRun, system: string, round: number) {
  for (const run of runs) {
    const audit = run.seed === seed ? roundIn(run, system, round) : undefined;
    if (audit !== undefined) return { run, audit };
  }
  return null;
}

function meanCost(runs: readonly SeedRun[], system: string): SystemCost {
  const costs = runs
    .filter(({ report }) => report.setup.systems.includes(system))
    .map(({ run }) => systemCost(run, system));
  const mean = (of: (cost: SystemCost) => number): number => costs.reduce((sum, c) => sum + of(c), 0) / costs.length;
  return {
    usage: {
      sampled: mean((c) => c.usage.sampled),
      prefilled: mean((c) => c.usage.prefilled),
      trained: mean((c) => c.usage.trained),
    },
    rollouts: mean((c) => c.rollouts),
    verifications: mean((c) => c.verifications),
    verificationSearches: mean((c) => c.verificationSearches),
    auxiliaryUpdates: mean((c) => c.auxiliaryUpdates),
    judged: mean((c) => c.judged),
    ms: mean((c) => c.ms),
  };
}
