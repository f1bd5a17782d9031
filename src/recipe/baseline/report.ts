/** What a training baseline shows: the exam by hop, the audit by round, and the hop mix of what it wrote. */
import type { Auditor } from '../../auditor.ts';
import type { RunReader } from '../../store/read.ts';
import { type AuditReport, auditRun } from '../audit.ts';
import { readRun } from '../rounds.ts';
import type { TrainConfig } from './config.ts';
import { hopMixOf } from './hops.ts';

export interface HopMix {
  readonly round: number;
  /** Hop count → prompts of that count. */
  readonly prompted: Readonly<Record<string, number>>;
  /** Hop count that was really asked → questions that got a label. */
  readonly written: Readonly<Record<string, number>>;
  /** The same of the questions that were kept for the solver; null where all are. */
  readonly kept: Readonly<Record<string, number>> | null;
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
  const { kind } = config.loop.task;
  return {
    config,
    audit,
    hopMix:
      config.gold !== null
        ? []
        : rounds.flatMap(({ round, proposer, solver, write }) => {
            // Where one policy plays both roles, its steps are the solver's.
            const steps = (proposer.length > 0 ? proposer : solver).map(({ record }) => record);
            if (steps.length === 0) return [];
            return [
              {
                round,
                prompted: sum(steps.map(({ hops }) => hops)),
                written: hopMixOf(
                  kind,
                  steps.flatMap(({ feedback }) => feedback.map(({ question }) => question)),
                ),
                kept:
                  write === null
                    ? null
                    : hopMixOf(
                        kind,
                        write.record.bank.map(({ question }) => question),
                      ),
              },
            ];
          }),
    ms: audit.cost.reduce((total, { ms }) => total + ms, 0),
  };
}

function sum(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const out: Record<string, number> = {};
  for (const own of counts) for (const [name, n] of Object.entries(own)) out[name] = (out[name] ?? 0) + n;
  return out;
}
