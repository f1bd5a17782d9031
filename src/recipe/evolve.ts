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
import type { BankItem, DoneRecord, EvaluationRecord, SetupRecord, StepRecord, WriteRecord } from '../record.ts';
import { lineage } from '../store/descent.ts';
import type { Run } from '../store/run.ts';
import type { Context, LoopSettings, Task } from '../train/context.ts';
import { evaluate } from '../train/evaluate.ts';
import { proposerStep } from '../train/proposer.ts';
import { solverStep } from '../train/solver.ts';
import { dropState, openTrainee } from '../train/trainee.ts';
import { writeBank } from '../train/write.ts';
import type { Descent } from '../types.ts';
import type { EvolveConfig } from './config.ts';
import { baseDescent, descentOf } from './descent.ts';
import { meter, type Progress } from './progress.ts';
import { BASE } from './rounds.ts';
import { SHARED, SYSTEMS, type System, type SystemName } from './systems.ts';

const pad = (n: number): string => String(n).padStart(3, '0');

/** The three policies that a round hands to the next, and its bank. */
interface RoundEnd {
  readonly proposer: StateRef;
  readonly solver: StateRef;
  readonly bank: readonly BankItem[];
}

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
  const loop = openLoop(context, config, run, meter(config, task, engine, report, signal, stopOn));
  const start = { proposer: engine.base, solver: engine.base };
  try {
    await loop.setup();
    await loop.evaluate(BASE, 0, engine.base);
    const firsts = new Map<LabelRule, RoundEnd>();
    for (const system of config.systems) {
      const { labels } = SYSTEMS[system];
      const first =
        firsts.get(labels) ?? (await loop.round(SHARED[labels].name, 1, start, { feedback: 'coupled', labels }, {}));
      firsts.set(labels, first);
      await loop.branch(system, first);
    }
    await run.once<DoneRecord>('done', async () => ({ kind: 'done' }));
  } finally {
    await loop.close();
  }
}

type Auxiliaries = Partial<Record<0 | 1, StateRef>>;

function openLoop(context: Context, config: EvolveConfig, run: Run, progress: ReturnType<typeof meter>) {
  const { engine, task, settings } = context;
  const trainees = new Map<string, ReturnType<typeof openTrainee>>();
  const trainee = (name: string): ReturnType<typeof openTrainee> => {
    const found = trainees.get(name) ?? openTrainee(engine, settings);
    trainees.set(name, found);
    return found;
  };
  const descents: Descent[] = [baseDescent(engine.base)];

  /** Journals `count` updates; states between the first and the last are dropped when they are replaced. */
  const steps = async (
    prefix: string,
    count: number,
    start: StateRef,
    keep: readonly StateRef[],
    compute: (before: StateRef, step: number) => Promise<StepRecord>,
  ): Promise<StateRef> => {
    let state = start;
    for (let step = 0; step < count; step++) {
      const key = `${prefix}/${pad(step)}`;
      progress.begin();
      let replayed = true;
      const record = await run.once<StepRecord>(key, () => {
        replayed = false;
        return compute(state, step);
      });
      const descent = descentOf(record);
      if (descent !== null) descents.push(descent);
      // Not on replay: another system may have come to the same weights since then, and need them.
      if (!replayed && state !== start) await dropState(context, state, [record.after, ...keep]);
      state = record.after;
      progress.step(key, record, step, count);
    }
    return state;
  };

  const loop = {
    async setup(): Promise<void> {
      await run.once<SetupRecord>('setup', async () => ({
        kind: 'setup',
        systems: config.systems,
        rounds: settings.rounds,
        task: task.name,
        engine: engine.fingerprint,
        base: engine.base,
        sources: task.sources.length,
        passages: task.passages,
        gold: task.gold.length,
        parameters: engine.parameters,
      }));
    },

    async evaluate(system: string, round: number, { policy }: StateRef): Promise<void> {
      const key = `${prefixOf(system, round)}/evaluate`;
      progress.begin();
      const record = await run.once<EvaluationRecord>(key, () => evaluate(context, { system, round, policy }));
      progress.exam(key, record);
    },

    /** Proposer, bank, solver, exam: one round of one system. */
    async round(
      system: string,
      round: number,
      start: Pick<RoundEnd, 'proposer' | 'solver'>,
      { feedback: name, labels }: System,
      auxiliaries: Auxiliaries,
    ): Promise<RoundEnd> {
      const prefix = prefixOf(system, round);
      const plan = FEEDBACK_PLANS[name];
      const policyOf = (grader: Grader): string =>
        (grader === 'main' ? start.solver : auxiliaries[grader.auxiliary]!).policy;
      const { ancestry } = lineage(descents);
      const keep = [engine.base, start.proposer, start.solver, ...Object.values(auxiliaries)];
      const proposer = await steps(`${prefix}/proposer`, settings.proposerSteps, start.proposer, keep, (before, step) =>
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
      );
      progress.begin();
      const { bank } = await run.once<WriteRecord>(`${prefix}/write`, () =>
        writeBank(context, { system, round, policy: proposer.policy, labels, mainSolver: start.solver.policy }),
      );
      progress.write(`${prefix}/write`, system, round);
      // The solver's weights go on; its optimizer starts fresh every round.
      const fresh = { policy: start.solver.policy, optimizer: null };
      const solver = await steps(`${prefix}/solver`, settings.solverSteps, fresh, keep, (before, step) =>
        solverStep(context, trainee('solver'), { system, round, step, auxiliary: null, before, bank, age: step }),
      );
      await loop.evaluate(system, round, solver);
      return { proposer, solver, bank };
    },

    /** Rounds 2, 3, … of one system after the shared first. */
    async branch(system: SystemName, first: RoundEnd): Promise<void> {
      const row = SYSTEMS[system];
      const plan = FEEDBACK_PLANS[row.feedback];
      const updates = auxiliaryUpdates(plan, settings.auxiliarySteps);
      let end = first;
      // [ours] Auxiliaries start from the base policy, never from the main solver.
      const auxiliaries: { 0: StateRef; 1: StateRef } = { 0: engine.base, 1: engine.base };
      for (let round = 2; round <= settings.rounds; round++) {
        for (const auxiliary of [0, 1] as const) {
          const bank = end.bank.filter((q) => fittedOn(plan, settings.seed, auxiliary, q));
          const count = bank.length === 0 ? 0 : updates[auxiliary];
          const keep = [engine.base, end.proposer, end.solver, auxiliaries[0], auxiliaries[1]];
          const age = (round - 2) * updates[auxiliary];
          auxiliaries[auxiliary] = await steps(
            `${system}/round${round - 1}/auxiliary${auxiliary}`,
            count,
            auxiliaries[auxiliary],
            keep,
            (before, step) =>
              solverStep(context, trainee(`auxiliary${auxiliary}`), {
                system,
                round: round - 1,
                step,
                auxiliary,
                before,
                bank,
                age: age + step,
              }),
          );
        }
        end = await loop.round(system, round, end, row, auxiliaries);
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
