/** What a training baseline shows: the exam by hop, the audit by round, and the hop mix of what it wrote. */
import type { Auditor } from '../../auditor.ts';
import type { RunReader } from '../../store/read.ts';
import { countBy } from '../../train/measure.ts';
import { type AuditReport, auditRun } from '../audit.ts';
import { type RoundLines, readRun } from '../rounds.ts';
import type { TrainConfig } from './config.ts';
import { HOPS_OF } from './hops.ts';

/** Hop count → questions. */
type Mix = Readonly<Record<string, number>>;

export interface HopMix {
  readonly round: number;
  /** What prompts asked for. */
  readonly prompted: Mix;
  /** What was written in training steps. */
  readonly written: Mix;
  /** Of the questions that were kept for the solver; null where all are. */
  readonly kept: Mix | null;
}

export interface TrainReport {
  readonly config: TrainConfig;
  readonly audit: AuditReport;
  /** By round; none for recipes with gold questions. */
  readonly hopMix: readonly HopMix[];
  /** Of all steps, exams among them. */
  readonly ms: number;
}

export async function trainReport(reader: RunReader, config: TrainConfig, auditor: Auditor): Promise<TrainReport> {
  const audit = await auditRun(reader, auditor);
  const { rounds } = await readRun(reader);
  return {
    config,
    audit,
    hopMix: rounds.flatMap((lines) => mixOf(lines, config)),
    ms: audit.cost.reduce((total, { ms }) => total + ms, 0),
  };
}

function mixOf({ round, proposer, solver, write }: RoundLines, { loop }: TrainConfig): HopMix[] {
  const wrote = [...proposer, ...solver].flatMap(({ record: { hops, written } }) =>
    written === undefined ? [] : [{ hops, written }],
  );
  if (wrote.length === 0) return [];
  const hopsOf = HOPS_OF[loop.task.kind];
  return [
    {
      round,
      prompted: sum(wrote.map(({ hops }) => hops)),
      written: sum(wrote.map(({ written }) => written)),
      kept: write === null ? null : countBy(write.record.bank.map(({ question }) => hopsOf(question) ?? 'unread')),
    },
  ];
}

function sum(mixes: readonly Mix[]): Mix {
  const out: Record<string, number> = {};
  for (const mix of mixes) for (const [hops, n] of Object.entries(mix)) out[hops] = (out[hops] ?? 0) + n;
  return out;
}
