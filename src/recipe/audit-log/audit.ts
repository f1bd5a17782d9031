/**
 * The audit of a log that another system wrote (method.md section 5). The measures, their intervals, the warning rule and the
 * list of false agreements are those of the audit of a run; it is plain JSON, and every report is a rendering of it.
 */
import type { Auditor } from '../../auditor.ts';
import { matchAnswers } from '../../matcher/answers.ts';
import type { JudgeCost } from '../../matcher/judge/cache.ts';
import type { Matcher } from '../../matcher.ts';
import { type Warning, warnings } from '../../method/agreement.ts';
import { groupBy } from '../../util/group.ts';
import { type Judged, judgeAll, type StepOf } from '../audit/judge.ts';
import { auditScope, type ScopeAudit } from '../audit/scope.ts';
import { type FalseAgreement, falseAgreements } from '../audit/worst.ts';
import { type JudgeCheck, judgeCheck } from './judge-check.ts';
import type { LogQuestion, Place } from './question.ts';
import { byName, type Log, type LogStep } from './read.ts';

export interface GradedQuestion extends LogQuestion {
  /** Per response. */
  readonly matches: readonly boolean[];
}

interface JudgedLogStep extends Place, StepOf<GradedQuestion> {
  readonly key: string;
  readonly record: { readonly system: string };
}

export interface LogAudit {
  readonly file: string;
  /** Meaning → field. */
  readonly mapping: Readonly<Record<string, string>>;
  readonly auditor: string;
  /** Who says whether a response matches the label: "log" where the log does. */
  readonly matcher: string;
  readonly counts: {
    readonly rows: number;
    readonly skipped: number;
    readonly questions: number;
    readonly sources: number;
    /** Responses without an answer. */
    readonly unanswered: number;
    readonly joinedReferences: number;
  };
  /** The first of the skipped rows. */
  readonly problems: readonly string[];
  /** Why questions stayed unresolved → how many. */
  readonly unresolved: Readonly<Record<string, number>>;
  readonly systems: readonly SystemAudit[];
  readonly falseAgreements: readonly FalseAgreement<GradedQuestion>[];
  /** Null for every other auditor. */
  readonly judge: (JudgeCheck & { readonly cost: JudgeCost }) | null;
}

export interface SystemAudit {
  readonly system: string;
  /** Unweighted mean of all steps. */
  readonly all: ScopeAudit;
  readonly rounds: readonly RoundAudit[];
  readonly byHops: readonly { readonly hops: number; readonly scope: ScopeAudit }[];
  /** Those with the most false agreements, most first. */
  readonly bySource: readonly { readonly source: string; readonly falsePairs: number; readonly scope: ScopeAudit }[];
  /** `round` counts from 0 in `rounds`. */
  readonly warnings: readonly Warning[];
}

export interface RoundAudit {
  readonly round: string;
  readonly scope: ScopeAudit;
  readonly steps: readonly { readonly step: string; readonly scope: ScopeAudit }[];
}

export interface AuditLogOptions {
  readonly auditor: Auditor;
  readonly matcher: Matcher;
  /** Null unless a model judges: what judges it where there are references, and what its replies cost. */
  readonly judge: { readonly gold: Auditor; readonly cost: () => JudgeCost } | null;
  /** Hears how many of all questions have been judged. */
  readonly progress?: (done: number, total: number) => void;
}

const TOP_SOURCES = 20;
/** Verdicts come, and are kept, from batch to batch. */
const BATCH = 64;

export async function auditLog(log: Log, options: AuditLogOptions): Promise<LogAudit> {
  const { auditor, matcher, judge, progress } = options;
  const total = log.steps.reduce((sum, { questions }) => sum + questions.length, 0);
  const steps: JudgedLogStep[] = [];
  let done = 0;
  for (const { system, round, step, questions } of log.steps) {
    const judged: Judged<GradedQuestion>[] = [];
    for (let from = 0; from < questions.length; from += BATCH) {
      const graded = await gradeAll(matcher, questions.slice(from, from + BATCH));
      judged.push(...(await judgeAll(auditor, graded)));
      done += graded.length;
      progress?.(done, total);
    }
    const key = log.steps.length === 1 ? '' : `round ${round}, step ${step}`;
    steps.push({ system, round, step, key, record: { system }, questions: judged });
  }
  const all = steps.flatMap(({ questions }) => questions);
  return {
    file: log.file,
    mapping: Object.fromEntries(Object.entries(log.mapping).map(([meaning, path]) => [meaning, path.text])),
    auditor: auditor.name,
    matcher: all.every(({ feedback }) => feedback.said !== null) ? 'log' : matcher.name,
    counts: {
      rows: log.rows,
      skipped: log.skipped,
      questions: all.length,
      sources: new Set(all.map(({ feedback }) => feedback.source)).size,
      unanswered: all.reduce((sum, { feedback }) => sum + feedback.responses.filter((r) => r === null).length, 0),
      joinedReferences: log.joined,
    },
    problems: log.problems,
    unresolved: unresolvedOf(all),
    systems: [...groupBy(steps, ({ system }) => system)].map(([system, own]) => auditSystem(system, own)),
    falseAgreements: falseAgreements(steps),
    judge: judge === null ? null : { ...(await judgeCheck(all, judge.gold)), cost: judge.cost() },
  };
}

/**
 * The log's own word on a match goes first; a response matches a label when it matches one of its aliases. One that nobody could
 * tell to match or not is left out.
 */
async function gradeAll(matcher: Matcher, questions: LogStep['questions']): Promise<GradedQuestion[]> {
  const found = await matchAnswers(
    matcher,
    questions.map(({ question, labels, responses, said }) => ({
      question,
      accepted: labels,
      answers: said === null ? responses : [],
    })),
  );
  return questions.map((question, i) => {
    if (question.said !== null) return { ...question, matches: question.said };
    const told = question.responses.flatMap((response, j) => {
      const match = found[i]![j]!;
      return match === null ? [] : [{ response, match }];
    });
    return { ...question, responses: told.map(({ response }) => response), matches: told.map(({ match }) => match) };
  });
}

function unresolvedOf(all: readonly Judged<GradedQuestion>[]): Record<string, number> {
  const whys = all.flatMap(({ verdict }) => (verdict.resolved ? [] : [verdict.why]));
  return Object.fromEntries([...groupBy(whys, (why) => why)].map(([why, own]) => [why, own.length]));
}

function auditSystem(system: string, steps: readonly JudgedLogStep[]): SystemAudit {
  const rounds = [...groupBy(steps, ({ round }) => round)].map(([round, own]): RoundAudit => {
    const name = `${system} round ${round}`;
    const scope = auditScope(own, name);
    return {
      round,
      scope,
      steps: own.map((one) => ({
        step: one.step,
        scope: own.length === 1 ? scope : auditScope([one], `${name} step ${one.step}`),
      })),
    };
  });
  const hopCounts = [...new Set(steps.flatMap((own) => own.questions.flatMap(({ feedback }) => feedback.hops ?? [])))];
  return {
    system,
    all: rounds.length === 1 ? rounds[0]!.scope : auditScope(steps, system),
    rounds,
    byHops: hopCounts
      .sort((a, b) => a - b)
      .map((hops) => ({ hops, scope: auditScope(steps, `${system} hops ${hops}`, (own) => own.hops === hops) })),
    bySource: worstSources(system, steps),
    warnings: warnings(
      rounds.flatMap(({ scope: { shares, intervals } }, round) =>
        shares === null || intervals === null
          ? []
          : [{ round, shares, agreement: intervals.A, excess: intervals.excess }],
      ),
    ),
  };
}

function worstSources(system: string, steps: readonly JudgedLogStep[]): SystemAudit['bySource'] {
  const pairs = steps.flatMap(({ questions }) => questions.flatMap((question) => question.pairs));
  const falsePairs = pairs.filter(({ M, P, S }) => M && !P && !S);
  return [...groupBy(falsePairs, ({ source }) => source)]
    .map(([source, own]) => ({ source, falsePairs: own.length }))
    .sort((a, b) => b.falsePairs - a.falsePairs || byName(a.source, b.source))
    .slice(0, TOP_SOURCES)
    .map(({ source, falsePairs: n }) => ({
      source,
      falsePairs: n,
      scope: auditScope(steps, `${system} source ${source}`, (own) => own.source === source),
    }));
}
