/** What each part of a run cost. Nothing is counted twice: shared rounds have rows of their own. */
import type { Usage } from '../../engine.ts';
import type { Asked } from '../../matcher.ts';
import { mean } from '../../method/statistics.ts';
import type { JudgeRequests } from '../../record.ts';
import { askedIn } from '../../train/judged.ts';
import { addUsage, NO_USAGE } from '../../train/usage.ts';
import { groupBy } from '../../util/group.ts';
import { BASE, type Line, type RunLines } from '../rounds.ts';
import { sharedOf } from '../systems.ts';
import { type Time, timeOf } from '../time.ts';

const PHASES = ['proposer', 'write', 'solver', 'evaluate', 'auxiliary'] as const;

/** What it asked a judge is counted step by step. */
export interface CostRow extends Time, Asked {
  /** "base", a shared part or a system. */
  readonly system: string;
  readonly round: number;
  readonly phase: (typeof PHASES)[number];
  readonly steps: number;
  readonly usage: Usage;
  /** Proposer: mean feedback rollouts per prompt. Solver and auxiliary: mean responses per question. Else null. */
  readonly responses: number | null;
}

interface Part {
  readonly phase: CostRow['phase'];
  readonly line: Line<{ readonly system: string; readonly round: number; readonly usage: Usage } & JudgeRequests>;
  readonly responses: number | null;
}

/** By round, then by system, then in the order of a round. */
export function costRows({ setup, steps, writes, evaluations }: RunLines): CostRow[] {
  const systems = [BASE, ...setup.systems.map(sharedOf), ...setup.systems];
  const parts: Part[] = [
    ...steps.map((line) => ({ phase: line.record.phase, line, responses: line.record.responses })),
    ...writes.map((line) => ({ phase: 'write' as const, line, responses: null })),
    ...evaluations.map((line) => ({ phase: 'evaluate' as const, line, responses: null })),
  ];
  const groups = groupBy(parts, ({ phase, line: { record } }) => JSON.stringify([record.system, record.round, phase]));
  return [...groups.values()]
    .map((own) => {
      const { phase, line } = own[0]!;
      return {
        system: line.record.system,
        round: line.record.round,
        phase,
        steps: own.length,
        ...timeOf(own.map(({ line }) => line)),
        usage: own.reduce((sum, part) => addUsage(sum, part.line.record.usage), NO_USAGE),
        ...askedIn(own.map((part) => part.line.record)),
        responses: own.some(({ responses }) => responses === null)
          ? null
          : mean(own.map(({ responses }) => responses!)),
      };
    })
    .sort(
      (a, b) =>
        a.round - b.round ||
        systems.indexOf(a.system) - systems.indexOf(b.system) ||
        PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase),
    );
}
