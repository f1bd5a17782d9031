/**
 * The loop (method.md sections 1 and 4): each round the proposer trains against its grader, writes a bank, and the solver
 * trains on it. Systems are rows; those of one label rule share round 1 and branch after it. Everything computed is journalled once, so running
 * the same command again goes on where the last one stopped.
 */
import type { Engine, StateRef } from '../engine.ts';
import type { Matcher } from '../matcher.ts';
import {
  auxiliaryUpdates,
  checkAncestry,
  FEEDBACK_PLANS,
  fittedOn,
  type Grader,
  graderOf,
} from '../method/feedback.ts';
import type { AlarmName } from '../method/health.ts';
import type { LabelRule } from '../method/label.ts';
import type { BankItem, DoneRecord, EvaluationRecord, SetupRecord, WriteRecord } from '../record.ts';
import { lineage } from '../store/descent.ts';
import type { Run } from '../store/run.ts';
import type { Context, LoopSettings, Task } from '../train/context.ts';
import { evaluate } from '../train/evaluate.ts';
import { proposerStep } from '../train/proposer.ts';
import { solverStep } from '../train/solver.ts';
import { openTrainee } from '../train/trainee.ts';
import { writeBank } from '../train/write.ts';
import type { Descent } from '../types.ts';
import type { EvolveConfig } from './config.ts';
import { baseDescent, descentOf } from './descent.ts';
import { meter, type Progress } from './progress.ts';
import { BASE } from './rounds.ts';
import { setupRecord } from './setup.ts';
import { SHARED, SYSTEMS, type System, type SystemName } from './systems.ts';
import { type Chain, sideBySide, stepName } from './updates.ts';

/** The policies that a round hands to the next, and its bank. */
interface RoundEnd {
  readonly proposer: StateRef;
  readonly solver: StateRef;
  readonly bank: readonly BankItem[];
  /** Trained beside the solver, as the next round's graders; none where no round follows. */
  readonly auxiliaries: Auxiliaries;
}

/** Of fold 0 and 1. */
type Auxiliaries = readonly StateRef[];

export interface EvolveInput {
  readonly config: EvolveConfig;
  readonly run: Run;
  readonly engine: Engine;
  readonly task: Task;
  readonly matcher: Matcher;
  readonly report: (progress: Progress) => void;
  readonly signal: AbortSignal;
  /** Alarms that end the run. */
  readonly stopOn?: readonly AlarmName[] | undefined;
}

export async function evolve(input: EvolveInput): Promise<void> {
  const { config, run, engine, task, matcher, report, signal, stopOn = [] } = input;
  const settings = loopSettings(config);
  const context: Context = { engine, blobs: run.blobs, task, matcher, settings };
  run.watch(engine.busy);
  const loop = openLoop(context, config, run, meter(config, task, engine, report, signal, stopOn));
  const start = { proposer: engine.base, solver: engine.base, auxiliaries: [] };
  try {
    await loop.setup();
    await loop.evaluate(BASE, 0, engine.base);
    const firsts = new Map<LabelRule, RoundEnd>();
    for (const system of config.systems) {
      const { labels } = SYSTEMS[system];
      const first =
        firsts.get(labels) ??
        (await loop.round(SHARED[labels].name, 1, start, { feedback: 'coupled', labels }, () => []));
      firsts.set(labels, first);
      await loop.branch(system, first);
    }
    await run.once<DoneRecord>('done', async () => ({ kind: 'done' }));
  } finally {
    await loop.close();
  }
}

function openLoop(context: Context, config: EvolveConfig, run: Run, progress: ReturnType<typeof meter>) {
  const { engine, settings } = context;
  const trainees = new Map<string, ReturnType<typeof openTrainee>>();
  const trainee = (name: string): ReturnType<typeof openTrainee> => {
    const found = trainees.get(name) ?? openTrainee(engine, settings);
    trainees.set(name, found);
    return found;
  };
  const descents: Descent[] = [baseDescent(engine.base)];

  /** Journals updates of one or more policies; the last state of each. */
  const updates = async (chains: readonly Chain[], keep: readonly StateRef[]): Promise<StateRef[]> => {
    const states = await sideBySide(run, context, chains, keep, {
      begin: progress.begin,
      done(key, record, step, count) {
        const descent = descentOf(record);
        if (descent !== null) descents.push(descent);
        progress.step(key, record, step, count);
      },
    });
    return chains.map(({ start }, c) => states[c]!.at(-1) ?? start);
  };

  /** The auxiliaries' updates on the bank of a round; none where the plan has no auxiliaries. */
  const fits = (
    system: SystemName,
    round: number,
    bank: readonly BankItem[],
    auxiliaries: Auxiliaries,
  ): readonly Chain[] => {
    const plan = FEEDBACK_PLANS[SYSTEMS[system].feedback];
    const budget = auxiliaryUpdates(plan, settings.auxiliarySteps);
    return ([0, 1] as const).map((auxiliary): Chain => {
      const own = bank.filter((q) => fittedOn(plan, settings.seed, auxiliary, q));
      return {
        start: auxiliaries[auxiliary]!,
        count: own.length === 0 ? 0 : budget[auxiliary],
        key: (step) => `${system}/round${round}/auxiliary${auxiliary}/${stepName(step)}`,
        compute: (before, step) =>
          solverStep(context, trainee(`auxiliary${auxiliary}`), {
            system,
            round,
            step,
            auxiliary,
            before,
            bank: own,
            age: (round - 1) * budget[auxiliary] + step,
          }),
      };
    });
  };

  const loop = {
    async setup(): Promise<void> {
      await run.once<SetupRecord>('setup', async () => setupRecord(context, config.systems));
    },

    async evaluate(system: string, round: number, { policy }: StateRef): Promise<void> {
      const key = `${prefixOf(system, round)}/evaluate`;
      progress.begin();
      const record = await run.once<EvaluationRecord>(key, () => evaluate(context, { system, round, policy }));
      progress.exam(key, record);
    },

    /**
     * Proposer, bank, solver, exam: one round of one system. `beside` gives what trains on the same bank beside the solver:
     * the auxiliaries of the next round, which influence nothing here. Those of `start` grade.
     */
    async round(
      system: string,
      round: number,
      start: Omit<RoundEnd, 'bank'>,
      { feedback: name, labels }: System,
      beside: (bank: readonly BankItem[]) => readonly Chain[],
    ): Promise<RoundEnd> {
      const prefix = prefixOf(system, round);
      const plan = FEEDBACK_PLANS[name];
      const policyOf = (grader: Grader): string =>
        (grader === 'main' ? start.solver : start.auxiliaries[grader.auxiliary]!).policy;
      const { ancestry } = lineage(descents);
      const keep = [engine.base, start.proposer, start.solver, ...start.auxiliaries];
      const propose: Chain = {
        start: start.proposer,
        count: settings.proposerSteps,
        key: (step) => `${prefix}/proposer/${stepName(step)}`,
        compute: (before, step) =>
          proposerStep(context, trainee('proposer'), {
            system,
            round,
            step,
            before,
            labels,
            mainSolver: start.solver.policy,
            graderOf: (question) => policyOf(graderOf(plan, settings.seed, question, round)),
            check: (grader, questions) => checkAncestry(name, plan, grader, ancestry(grader), questions),
          }),
      };
      const [proposer] = await updates([propose], keep);
      progress.begin();
      const { bank } = await run.once<WriteRecord>(`${prefix}/write`, () =>
        writeBank(context, { system, round, policy: proposer!.policy, labels, mainSolver: start.solver.policy }),
      );
      progress.write(`${prefix}/write`, system, round);
      const solve: Chain = {
        // The solver's weights go on; its optimizer starts fresh every round.
        start: { policy: start.solver.policy, optimizer: null },
        count: settings.solverSteps,
        key: (step) => `${prefix}/solver/${stepName(step)}`,
        compute: (before, step) =>
          solverStep(context, trainee('solver'), { system, round, step, auxiliary: null, before, bank, age: step }),
      };
      const [solver, ...auxiliaries] = await updates([solve, ...beside(bank)], [...keep, proposer!]);
      await loop.evaluate(system, round, solver!);
      return { proposer: proposer!, solver: solver!, bank, auxiliaries };
    },

    /** Rounds 2, 3, … of one system after the shared first. */
    async branch(system: SystemName, first: RoundEnd): Promise<void> {
      if (settings.rounds < 2) return;
      // [ours] Auxiliaries start from the base policy, never from the main solver.
      const chains = fits(system, 1, first.bank, [engine.base, engine.base]);
      const auxiliaries = await updates(chains, [engine.base, first.proposer, first.solver]);
      let end: RoundEnd = { ...first, auxiliaries };
      for (let round = 2; round <= settings.rounds; round++) {
        const before = end.auxiliaries;
        end = await loop.round(system, round, end, SYSTEMS[system], (bank) =>
          round === settings.rounds ? [] : fits(system, round, bank, before),
        );
      }
    },

    async close(): Promise<void> {
      for (const t of trainees.values()) await t.close();
    },
  };
  return loop;
}

function prefixOf(system: string, round: number): string {
  if (system === BASE) return BASE;
  const shared = Object.values(SHARED).find(({ name }) => name === system);
  return `${shared?.prefix ?? `${system}/`}round${round}`;
}

export function loopSettings(config: EvolveConfig): LoopSettings {
  const { formatWeight, difficulty, gate, ...rest } = config;
  return { ...rest, reward: { formatWeight, difficulty, gate } };
}
