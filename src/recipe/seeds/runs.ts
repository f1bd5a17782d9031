/** The runs of a comparison with their audits, and what an arm has in them. */
import type { AuditReport, JudgedRun, RoundAudit } from '../audit.ts';
import type { RoundLines } from '../rounds.ts';
import type { ArmRuns } from './arms.ts';

export interface SeedRun extends JudgedRun {
  readonly seed: number;
  readonly report: AuditReport;
}

export type SeedArm = ArmRuns<SeedRun>;

export const roundIn = ({ report }: SeedRun, system: string, round: number): RoundAudit | undefined =>
  report.rounds.find((r) => r.system === system && r.round === round);

export const linesIn = ({ run }: SeedRun, system: string, round: number): RoundLines =>
  run.rounds.find((r) => r.system === system && r.round === round)!;
