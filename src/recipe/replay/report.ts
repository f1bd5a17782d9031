/**
 * What a replay shows, from its journal and an auditor: per arm the audit over seeds, and the paired difference to coupled. A
 * folder that was asked for more before is shown whole.
 */

import type { Auditor } from '../../auditor.ts';
import type { Asked } from '../../matcher.ts';
import type { EvaluationRecord, JudgeRequests, StepRecord } from '../../record.ts';
import type { RunReader } from '../../store/read.ts';
import { askedIn } from '../../train/judged.ts';
import type { Feedback } from '../../types.ts';
import { UserError } from '../../util/error.ts';
import { type Judged, judgeAll, type StepOf } from '../audit/judge.ts';
import {
  auditScope,
  contrastScopes,
  type Intervals,
  type Measure,
  measureOf,
  type ScopeAudit,
} from '../audit/scope.ts';
import { type MeasureSpreads, measureSpreads, type Spread, spreadOf } from '../seeds/spread.ts';
import type { BankQuestion } from './bank.ts';
import type { ReplayConfig, ReplayRequest } from './config.ts';
import { type BankShape, bankShape, type FactOf, factsOf, factsSeen } from './facts.ts';
import { answerKey, heldIn, isFinished } from './folder.ts';
import { armNamed } from './parts.ts';
import { type Asking, askings } from './plan.ts';
import type { ReplayAnswer, ReplaySetup, ReplayVerify } from './record.ts';

export interface ArmReport {
  readonly arm: string;
  /** Seeds that it is finished with. */
  readonly seeds: number;
  readonly questions: number;
  readonly coverage: Spread;
  readonly measures: MeasureSpreads;
  /** 95 % interval over sources of the mean over seeds. */
  readonly intervals: Intervals | null;
  /** Accuracy of the graders on held-out questions, weighted by how many bank questions each is asked. */
  readonly probe: Spread | null;
  /** Share of questions whose source is in their grader's ancestry. */
  readonly overlap: number;
  /** Share of questions whose fact is asked in the part of the bank that their grader trains on; null where no text says it. */
  readonly sameFact: number | null;
  /** This arm minus coupled, seed by seed where both are finished; null for coupled itself, or where no seed has both. */
  readonly againstCoupled: {
    readonly seeds: number;
    readonly measures: MeasureSpreads;
    readonly intervals: Intervals | null;
    readonly probe: Spread | null;
  } | null;
}

/** What the replay asked a judge is counted record by record. */
export interface ReplayReport extends Asked {
  readonly dir: string;
  readonly config: ReplayConfig;
  readonly codeVersion: string;
  readonly auditor: string;
  readonly setup: ReplaySetup;
  readonly bank: BankShape;
  /** All that the folder has, whoever asked for it: an arm may have some of them. */
  readonly seeds: readonly number[];
  /** Is all there that was asked for now? */
  readonly done: boolean;
  /** The policy that nothing was fitted to. */
  readonly base: ScopeAudit | null;
  readonly baseProbe: number | null;
  /** Responses that the bank brought along, where it did. */
  readonly logged: ScopeAudit | null;
  readonly arms: readonly ArmReport[];
  readonly verified: readonly Pick<ReplayVerify, 'verification'>[];
  /** What this audit asked a judge; absent where its matcher asks nobody. */
  readonly auditAsked?: Asked;
  readonly ms: number;
}

interface Found {
  readonly answers: Map<string, ReplayAnswer>;
  readonly probes: Map<string, EvaluationRecord>;
  readonly verified: Map<string, ReplayVerify>;
}

export async function replayReport(
  reader: RunReader,
  auditor: Auditor,
  bank: readonly BankQuestion[],
  logged: readonly Feedback[],
  request: ReplayRequest,
  factOf: FactOf = () => null,
): Promise<ReplayReport> {
  let setup: ReplaySetup | null = null;
  let ms = 0;
  const asking: JudgeRequests[] = [];
  const found: Found = { answers: new Map(), probes: new Map(), verified: new Map() };
  for await (const { key, value, ms: own } of reader.events()) {
    ms += own;
    const record = value as unknown as ReplaySetup | ReplayAnswer | ReplayVerify | EvaluationRecord | StepRecord;
    if ('judged' in record) asking.push(record);
    if (record.kind === 'replay-setup') setup = record;
    else if (record.kind === 'replay-answer') found.answers.set(key, record);
    else if (record.kind === 'replay-verify') found.verified.set(key, record);
    else if (record.kind === 'evaluation') found.probes.set(key, record);
  }
  if (setup === null) throw new UserError(`${reader.dir}: holds no replay; name the folder of "crossfold replay"`);
  const config = reader.manifest.config as unknown as ReplayConfig;
  const judged = new Map<string, StepOf<Feedback>>();
  const references = new Map(bank.map((q) => [`${q.source}\n${q.question}`, q.reference ?? []]));
  const judge = async (feedback: readonly Feedback[]): Promise<StepOf<Feedback>> => {
    const items = feedback.map((f) => ({ ...f, references: references.get(`${f.source}\n${f.question}`) ?? [] }));
    return { questions: (await judgeAll(auditor, items)) as readonly Judged<Feedback>[] };
  };
  for (const [key, { feedback }] of found.answers) judged.set(key, await judge(feedback));
  const scopeOf = (key: string): ScopeAudit | null => {
    const step = judged.get(key);
    return step === undefined ? null : auditScope([step], key);
  };
  const baseProbe = found.probes.get('base/probe');
  const { arms, seeds } = heldIn([...found.answers.keys()]);
  return {
    dir: reader.dir,
    config,
    codeVersion: reader.manifest.codeVersion,
    auditor: auditor.name,
    setup,
    bank: bankShape(bank, factOf),
    seeds,
    done: isFinished([...found.answers.keys()], request),
    base: scopeOf('base/answer'),
    baseProbe: baseProbe === undefined ? null : accuracy(baseProbe),
    logged: logged.length === 0 ? null : auditScope([await judge(logged)], 'logged'),
    arms: arms.map((arm) => armReport(arm, config, seeds, bank, found, judged, factOf)),
    verified: [...found.verified.values()].map(({ verification }) => ({ verification })),
    ...askedIn(asking),
    ms,
  };
}

const COUPLED = 'coupled';

function armReport(
  arm: string,
  config: ReplayConfig,
  allSeeds: readonly number[],
  bank: readonly BankQuestion[],
  found: Found,
  judged: ReadonlyMap<string, StepOf<Feedback>>,
  factOf: FactOf,
): ArmReport {
  const step = (seed: number, name: string) => judged.get(answerKey(seed, name))!;
  const seeds = allSeeds.filter((seed) => judged.has(answerKey(seed, arm)));
  const steps = seeds.map((seed) => step(seed, arm));
  const whole = auditScope(steps, arm);
  const scopeOf = (name: string) => (seed: number) => auditScope([step(seed, name)], answerKey(seed, name));
  const own = seeds.map(scopeOf(arm));
  const probes = seeds.map((seed) => probeOf(arm, seed, config, bank, found));
  const answers = seeds.map((seed) => found.answers.get(answerKey(seed, arm))!);
  const questions = answers.reduce((sum, { feedback }) => sum + feedback.length, 0);
  return {
    arm,
    seeds: seeds.length,
    questions: questions / seeds.length,
    coverage: spreadOf(own.map(({ coverage }) => coverage)),
    measures: measureSpreads((m) => own.map((scope) => figure(scope, m))),
    intervals: whole.intervals,
    probe: probes.includes(null) ? null : spreadOf(probes as number[]),
    overlap: answers.reduce((sum, { overlap }) => sum + overlap, 0) / questions,
    sameFact: sameFact(
      seeds.map((seed) => planOf(arm, seed, config, bank, found)),
      factOf,
    ),
    againstCoupled: againstCoupled(),
  };

  function againstCoupled(): ArmReport['againstCoupled'] {
    const both = arm === COUPLED ? [] : seeds.filter((seed) => judged.has(answerKey(seed, COUPLED)));
    if (both.length === 0) return null;
    const pairs = both.map((seed) => [scopeOf(COUPLED)(seed), scopeOf(arm)(seed)] as const);
    const gains = both.map((seed) => {
      const [a, b] = [COUPLED, arm].map((name) => probeOf(name, seed, config, bank, found));
      return a == null || b == null ? null : b - a;
    });
    return {
      seeds: both.length,
      measures: measureSpreads((m) => pairs.map(([a, b]) => figure(b, m) - figure(a, m))),
      intervals: contrastScopes(
        both.map((seed) => step(seed, COUPLED)),
        both.map((seed) => step(seed, arm)),
        `${arm} against ${COUPLED}`,
      ),
      probe: gains.includes(null) ? null : spreadOf(gains as number[]),
    };
  }
}

const figure = (scope: ScopeAudit, m: Measure): number => measureOf(scope, m) ?? Number.NaN;

interface Planned {
  readonly bank: readonly BankQuestion[];
  readonly askings: readonly Asking[];
}

/** What the arm's graders are fitted on and asked, of the bank with its labels. */
function planOf(
  name: string,
  seed: number,
  { updates }: ReplayConfig,
  drafts: readonly BankQuestion[],
  { verified }: Found,
): Planned {
  const arm = armNamed(name);
  const bank = arm.labels === 'msv' ? (verified.get(`seed${seed}/verify`)?.bank ?? []) : drafts;
  return { bank, askings: askings(arm, bank, seed, updates) };
}

function sameFact(planned: readonly Planned[], factOf: FactOf): number | null {
  const found = planned.map((own) => factsSeen(factsOf(own.bank, factOf), own.askings));
  const of = found.reduce((sum, own) => sum + own.of, 0);
  return of === 0 ? null : found.reduce((sum, { seen }) => sum + seen, 0) / of;
}

/** Null while a grader has not been examined. */
function probeOf(
  name: string,
  seed: number,
  config: ReplayConfig,
  drafts: readonly BankQuestion[],
  found: Found,
): number | null {
  let [right, asked] = [0, 0];
  for (const { fit, asked: own } of planOf(name, seed, config, drafts, found).askings) {
    const record = found.probes.get(`seed${seed}/probe/${fit.name}@${fit.updates}`);
    if (record === undefined) return null;
    right += own.length * accuracy(record);
    asked += own.length;
  }
  return right / asked;
}

function accuracy({ em, failed }: EvaluationRecord): number {
  const lost = new Set(failed);
  const kept = em.filter((_, i) => !lost.has(i));
  return kept.filter(Boolean).length / kept.length;
}
