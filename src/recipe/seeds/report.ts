/**
 * Several runs as one comparison (method.md sections 5 and 6): per arm and round the mean and deviation over seeds, and the
 * paired difference to the first arm with two intervals: over sources (what another draw of sources would give) and over
 * seeds (what another run would give). Runs may hold different arms; a seed counts where it has the figure.
 */
import type { Auditor } from '../../auditor.ts';
import type { RunReader } from '../../store/read.ts';
import type { Json } from '../../store.ts';
import { UserError } from '../../util/error.ts';
import { measureOf } from '../audit/scope.ts';
import { auditJudged, judgeRun, type RoundAudit } from '../audit.ts';
import { SYSTEMS, type SystemName, systemOf } from '../systems.ts';
import { type Arm, type ArmRuns, armsOf, type Settled } from './arms.ts';
import { type Bases, basesOf, checkBase } from './base.ts';
import { contrast, type SeedContrast } from './contrast.ts';
import { type SystemCost, systemCost } from './cost.ts';
import { type ArmExam, examOf } from './exam.ts';
import { leadsPart, partsOf } from './part.ts';
import { type ProposerSpreads, proposerFigures, proposerSpreads } from './proposers.ts';
import { type QuestionFigures, questionFigures } from './questions.ts';
import { linesIn, roundIn, type SeedArm, type SeedRun } from './runs.ts';
import { type MeasureSpreads, measureSpreads, type Spread, spreadOf } from './spread.ts';

export const SCOPES = ['scheduled', 'proposer', 'solver'] as const;
export type Scope = (typeof SCOPES)[number];

export interface SeedRound {
  /** Name of the arm. */
  readonly system: string;
  readonly round: number;
  /** What was computed: the arm, or the part that it shares with other arms. */
  readonly part: string;
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

export interface SeedsReport extends Bases {
  readonly dirs: readonly string[];
  readonly seeds: readonly number[];
  /** Names of the arms; the first is the reference. */
  readonly systems: readonly string[];
  readonly arms: readonly Arm[];
  /** Engine threads that the runs had. */
  readonly workers: readonly number[];
  readonly task: string;
  readonly auditor: string;
  readonly parameters: number | null;
  /** Of the first run. */
  readonly config: Json;
  readonly done: boolean;
  /** Folders of the runs that are not finished. */
  readonly unfinished: readonly string[];
  readonly rounds: readonly SeedRound[];
  readonly contrasts: readonly SeedContrast[];
  /** By arm. */
  readonly exams: readonly ArmExam[];
  /** Means over the finished runs of an arm; over all where it has none. */
  readonly costs: Readonly<Record<string, ArmCost>>;
  /** By arm, of the same runs; null where all runs have the same settings. */
  readonly proposers: Readonly<Record<string, ProposerSpreads>> | null;
  readonly warnings: readonly {
    readonly seed: number;
    readonly system: string;
    readonly round: number;
    readonly scope: string;
  }[];
}

export interface ArmCost extends SystemCost {
  /** Of whole runs? */
  readonly finished: boolean;
}

interface OpenedRun extends Settled {
  readonly reader: RunReader;
  readonly auditor: Auditor;
}

/**
 * @param only the systems to show; absent, all that the runs have.
 * UserError: the runs do not share task, rounds and base model, two hold the same arm and seed, or one has no system to show.
 */
export async function seedsReport(runsGiven: readonly OpenedRun[], only?: readonly string[]): Promise<SeedsReport> {
  const opened = only === undefined ? runsGiven : runsGiven.map((run) => withSystems(run, only));
  // Before the audits, which take their time.
  const named = armsOf(opened);
  const audited = new Map<OpenedRun, SeedRun>();
  for (const run of opened) audited.set(run, await auditSeed(run));
  const runs = [...audited.values()];
  checkBase(opened, runs);
  const arms = named.map((arm): SeedArm => ({ ...arm, runs: arm.runs.map((run) => audited.get(run)!) }));
  const first = runs[0]!.report;
  const parts = Array.from({ length: first.setup.rounds }, (_, r) => partsOf(arms, r + 1));
  const rounds = arms.flatMap((arm, i) => parts.flatMap((names, r) => seedRound(arm, r + 1, names[i]!) ?? []));
  const nameOf = (run: SeedRun, system: string): string | undefined =>
    arms.find((arm) => arm.system === system && arm.runs.includes(run))?.name;
  return {
    dirs: runs.map(({ report }) => report.dir),
    seeds: ascending(runs.map(({ seed }) => seed)),
    systems: arms.map(({ name }) => name),
    arms: named.map(({ runs: _, ...arm }) => arm),
    workers: ascending(opened.map(({ config }) => config.workers)),
    task: first.setup.task,
    auditor: first.auditor,
    parameters: first.setup.parameters,
    config: first.config,
    done: runs.every(({ report }) => report.done),
    unfinished: runs.flatMap(({ report }) => (report.done ? [] : [report.dir])),
    ...basesOf(arms),
    rounds,
    contrasts: contrastsOf(arms, rounds),
    exams: arms.flatMap((arm) => examOf(arm, first.setup.rounds) ?? []),
    costs: Object.fromEntries(arms.map((arm) => [arm.name, meanCost(arm)])),
    proposers: arms.some(({ suffix }) => suffix !== '') ? await proposersOf(named, audited) : null,
    warnings: runs.flatMap((run) =>
      run.report.warnings.flatMap(({ system, round, scope }) => {
        const name = nameOf(run, system);
        return name === undefined ? [] : [{ seed: run.seed, system: name, round, scope }];
      }),
    ),
  };
}

function withSystems(run: OpenedRun, only: readonly string[]): OpenedRun {
  const systems = run.systems.filter((system) => only.includes(system));
  if (systems.length === 0)
    throw new UserError(
      `--systems is "${only.join(',')}"; ${run.dir} has ${run.systems.join(', ')}: name one of them, or leave the run out`,
    );
  return { ...run, systems };
}

const ascending = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b);

async function auditSeed({ reader, auditor }: OpenedRun): Promise<SeedRun> {
  const judged = await judgeRun(reader, auditor);
  return { ...judged, seed: reader.manifest.seed, report: auditJudged(reader, auditor, judged) };
}

/**
 * Every later arm against the first; and plans under another label rule against the coupled one of that rule, as the paper
 * pairs them. Under the same settings both have the same first round.
 */
function contrastsOf(arms: readonly SeedArm[], rounds: readonly SeedRound[]): SeedContrast[] {
  const [first, ...others] = arms;
  const against = (a: SeedArm, arm: SeedArm): SeedContrast[] =>
    rounds
      .filter((own) => own.system === arm.name)
      .filter((own) => !own.shared || (arm.suffix !== a.suffix && leadsPart(rounds, own)))
      .flatMap(({ round }) => contrast(a, arm, round) ?? []);
  const coupledOf = ({ system, suffix }: SeedArm): SeedArm | undefined => {
    if (!Object.hasOwn(SYSTEMS, system)) return undefined;
    const wanted = systemOf('coupled', SYSTEMS[system as SystemName].labels);
    return arms.find((arm) => arm.system === wanted && arm.suffix === suffix);
  };
  return [
    ...others.flatMap((arm) => against(first!, arm)),
    ...others.flatMap((arm) => {
      const coupled = coupledOf(arm);
      return coupled === undefined || coupled === arm || coupled === first ? [] : against(coupled, arm);
    }),
  ];
}

async function proposersOf(
  arms: readonly ArmRuns<OpenedRun>[],
  audited: ReadonlyMap<OpenedRun, SeedRun>,
): Promise<Record<string, ProposerSpreads>> {
  const out: Record<string, ProposerSpreads> = {};
  for (const { name, system, runs } of arms) {
    const figures = [];
    for (const opened of wholeFirst(runs, (run) => audited.get(run)!)) {
      const rounds = audited.get(opened)!.run.rounds.filter((own) => own.system === system);
      const steps = rounds.flatMap(({ proposer }) => proposer);
      figures.push(await proposerFigures(steps, opened.config.prompts, opened.reader.blobs));
    }
    out[name] = proposerSpreads(figures);
  }
  return out;
}

function seedRound({ name, system, runs }: SeedArm, round: number, part: string): SeedRound | null {
  const own = runs.flatMap((run) => {
    const audit = roundIn(run, system, round);
    // Recipes that grade nothing have an exam alone.
    return audit?.scopes.scheduled.shares || audit?.downstream ? [{ run, audit }] : [];
  });
  if (own.length === 0) return null;
  const figures = (of: (audit: RoundAudit) => number | undefined): Spread | null => {
    const values = own.flatMap(({ audit }) => of(audit) ?? []);
    return values.length === 0 ? null : spreadOf(values);
  };
  const lines = linesIn(own[0]!.run, system, round);
  return {
    system: name,
    round,
    part,
    shared: own[0]!.audit.shared,
    seeds: own.map(({ run }) => run.seed),
    scopes: Object.fromEntries(
      SCOPES.map((scope) => [
        scope,
        measureSpreads((m) => own.flatMap(({ audit }) => measureOf(audit.scopes[scope], m) ?? [])),
      ]),
    ) as Record<Scope, MeasureSpreads>,
    coverage: spreadOf(
      own.flatMap(({ audit: { scopes } }) => (scopes.scheduled.steps > 0 ? [scopes.scheduled.coverage] : [])),
    ),
    em: figures((audit) => audit.downstream?.all?.em.point),
    coverEm: figures((audit) => audit.downstream?.all?.coverEm.point),
    bankTP: figures((audit) => audit.bank?.TP?.point),
    questions: questionFigures(
      lines.write?.record.bank ?? [],
      lines.proposer.map(({ record }) => record),
    ),
  };
}

/** The finished runs, whose costs are whole; all where there is none. */
function wholeFirst<R>(runs: readonly R[], auditedAs: (run: R) => SeedRun): readonly R[] {
  const finished = runs.filter((run) => auditedAs(run).report.done);
  return finished.length > 0 ? finished : runs;
}

function meanCost({ system, runs }: SeedArm): ArmCost {
  const counted = wholeFirst(runs, (run) => run);
  const costs = counted.map(({ run }) => systemCost(run, system));
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
    unread: mean((c) => c.unread),
    ms: mean((c) => c.ms),
    busy: costs.some(({ busy }) => busy === null) ? null : mean((c) => c.busy!),
    finished: counted.every(({ report }) => report.done),
  };
}
