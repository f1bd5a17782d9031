/** The records of `evolve` and `compare` folded into systems × rounds. A shared round 1 is part of every system's curve. */
import type { EvaluationRecord, RunRecord, SetupRecord, StepRecord, WriteRecord } from '../record.ts';
import type { RunReader } from '../store/read.ts';
import { UserError } from '../util/error.ts';
import { isShared, sharedOf } from './systems.ts';

/** A record with the key it is journalled under and how long it took. */
export interface Line<R> {
  readonly key: string;
  readonly ms: number;
  /** Milliseconds of the run that went by until it was written, of which the engine had work in `busy`. Null in older journals. */
  readonly lap: { readonly wall: number; readonly busy: number } | null;
  readonly record: R;
}

export interface RoundLines {
  readonly system: string;
  readonly round: number;
  /** Computed once for all systems of a label rule. */
  readonly shared: boolean;
  readonly proposer: readonly Line<StepRecord>[];
  readonly solver: readonly Line<StepRecord>[];
  /** Fitted after this round, for the next one. */
  readonly auxiliary: readonly Line<StepRecord>[];
  readonly write: Line<WriteRecord> | null;
  readonly evaluation: Line<EvaluationRecord> | null;
}

export interface RunLines {
  readonly setup: SetupRecord;
  readonly base: Line<EvaluationRecord> | null;
  /** In the order of the journal. */
  readonly steps: readonly Line<StepRecord>[];
  readonly writes: readonly Line<WriteRecord>[];
  readonly evaluations: readonly Line<EvaluationRecord>[];
  /** Systems in the order of the run, rounds ascending; only rounds that have begun. */
  readonly rounds: readonly RoundLines[];
  readonly done: boolean;
}

export const BASE = 'base';

/** Works while the run goes on. UserError: the folder holds another kind of run, or one that has not begun. */
export async function readRun(reader: RunReader): Promise<RunLines> {
  let setup: SetupRecord | null = null;
  let done = false;
  const steps: Line<StepRecord>[] = [];
  const writes: Line<WriteRecord>[] = [];
  const evaluations: Line<EvaluationRecord>[] = [];
  for await (const { key, value, ms, wall, busy } of reader.events()) {
    const lap = wall === undefined || busy === undefined ? null : { wall, busy };
    const record = value as unknown as RunRecord | null;
    switch (record?.kind) {
      case undefined:
        break;
      case 'setup':
        setup = record;
        break;
      case 'step':
        steps.push({ key, ms, lap, record });
        break;
      case 'write':
        writes.push({ key, ms, lap, record });
        break;
      case 'evaluation':
        evaluations.push({ key, ms, lap, record });
        break;
      case 'done':
        done = true;
        break;
      default:
        // Keys of a later version are no business of this one.
        record satisfies never;
    }
  }
  if (setup === null)
    throw new UserError(
      `${reader.dir}: nothing to audit: no setup record (its recipe is "${reader.manifest.recipe}"); name another --run folder, or wait until the run has begun`,
    );
  const { systems } = setup;
  const base = evaluations.find(({ record }) => record.system === BASE) ?? null;
  const lines = { steps, writes, evaluations };
  const rounds = systems.flatMap((system) =>
    Array.from({ length: setup.rounds }, (_, r) => roundOf(lines, system, r + 1)).filter(begun),
  );
  return { setup, base, ...lines, rounds, done };
}

function roundOf(
  { steps, writes, evaluations }: Pick<RunLines, 'steps' | 'writes' | 'evaluations'>,
  system: string,
  round: number,
): RoundLines {
  const here = ({ record }: Line<{ readonly system: string; readonly round: number }>): boolean =>
    record.round === round && (record.system === system || record.system === sharedOf(system));
  const own = steps.filter(here);
  const phase = (name: StepRecord['phase']) => own.filter(({ record }) => record.phase === name);
  const [proposer, solver] = [phase('proposer'), phase('solver')];
  return {
    system,
    round,
    shared: [...proposer, ...solver].some(({ record }) => isShared(record.system)),
    proposer,
    solver,
    auxiliary: phase('auxiliary'),
    write: writes.find(here) ?? null,
    evaluation: evaluations.find(here) ?? null,
  };
}

const begun = ({ proposer, solver, write, evaluation }: RoundLines): boolean =>
  proposer.length + solver.length > 0 || write !== null || evaluation !== null;
