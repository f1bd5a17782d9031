/** What the recipes are written with: journalled steps, training clients, exams, progress. */
import type { StateRef } from '../../engine.ts';
import type { BankItem, EvaluationRecord, StepRecord, WriteRecord } from '../../record.ts';
import type { Run } from '../../store/run.ts';
import { demonstration, type Example } from '../../train/baseline/imitate.ts';
import type { Context, LoopSettings } from '../../train/context.ts';
import { evaluate } from '../../train/evaluate.ts';
import { openTrainee, type Trainee } from '../../train/trainee.ts';
import { Interrupted, UserError } from '../../util/error.ts';
import type { Progress } from '../progress.ts';
import { BASE } from '../rounds.ts';
import { sideBySide, stepName } from '../updates.ts';
import type { Phase } from './recipes.ts';

export interface Loop {
  readonly system: string;
  readonly context: Context;
  readonly settings: LoopSettings;
  /** Questions to train on; none where a recipe writes its own. */
  readonly gold: readonly BankItem[];
  /** The gold questions with turns that answer at once. @throws UserError when none fits the policy. */
  demonstrations(): readonly Example[];
  /** The training client of a role, opened when it is first asked for. */
  trainee(role: string): Trainee;
  /** Journals `count` updates under `roundR/PHASE/000 …`; a state that was replaced is dropped, `start` is not. */
  steps(
    round: number,
    phase: string,
    count: number,
    start: StateRef,
    compute: (before: StateRef, step: number) => Promise<StepRecord>,
  ): Promise<StateRef>;
  /** Journals one piece of work under `roundR/PHASE`. */
  once<R extends StepRecord | WriteRecord>(round: number, phase: string, compute: () => Promise<R>): Promise<R>;
  examine(round: number, policy: string): Promise<void>;
  close(): Promise<void>;
}

interface LoopInput {
  readonly system: string;
  readonly run: Run;
  readonly context: Context;
  readonly gold: readonly BankItem[];
  readonly phases: readonly Phase[];
  readonly report: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

export function openLoop({ system, run, context, gold, phases, report, signal }: LoopInput): Loop {
  const { engine, task, settings } = context;
  run.watch(engine.busy);
  const trainees = new Map<string, Trainee>();
  const exam = task.gold.length;
  const total =
    exam * (settings.rounds + 1) + settings.rounds * phases.reduce((sum, { steps, units }) => sum + steps * units, 0);
  let done = 0;
  const send = (
    units: number,
    key: string,
    at: Pick<Progress, 'round' | 'phase' | 'step' | 'steps' | 'reward' | 'agreement'>,
  ): void => {
    done += units;
    const { sampled, prefilled, trained } = engine.usage();
    report({ key, system, ...at, done, total, tokens: sampled + prefilled + trained });
  };
  const begin = (): void => {
    if (signal.aborted) throw new Interrupted('stopped between two steps; run the same command again to go on');
  };
  const unitsOf = (phase: string): number => phases.find(({ name }) => name === phase)!.units;
  let shown: readonly Example[] | null = null;
  return {
    system,
    context,
    settings,
    gold,
    demonstrations() {
      shown ??= gold.flatMap((item) => {
        const rollout = demonstration(item, task.dialect, engine.tokenizer, task.limits.solver.contextLength);
        return rollout === null ? [] : [{ item, rollouts: [rollout] }];
      });
      if (shown.length === 0)
        throw new UserError(
          `none of the ${gold.length} training questions fits in ${task.limits.solver.contextLength} tokens`,
        );
      return shown;
    },
    trainee(role) {
      const found = trainees.get(role) ?? openTrainee(engine, settings);
      trainees.set(role, found);
      return found;
    },
    async steps(round, phase, count, start, compute) {
      const key = (step: number): string => `round${round}/${phase}/${stepName(step)}`;
      const [states] = await sideBySide(run, context, [{ start, count, key, compute }], [start, engine.base], {
        begin,
        done(key, { reward, agreement }, step, steps) {
          send(unitsOf(phase), key, { round, phase, step, steps, reward: reward.mean, agreement });
        },
      });
      return states!.at(-1) ?? start;
    },
    async once(round, phase, compute) {
      const key = `round${round}/${phase}`;
      begin();
      const record = await run.once(key, compute);
      const { reward, agreement } = record.kind === 'step' ? record : { reward: null, agreement: null };
      send(unitsOf(phase), key, { round, phase, step: 0, steps: 1, reward: reward?.mean ?? null, agreement });
      return record;
    },
    async examine(round, policy) {
      const name = round === 0 ? BASE : system;
      const key = round === 0 ? `${BASE}/evaluate` : `round${round}/evaluate`;
      begin();
      const { em } = await run.once<EvaluationRecord>(key, () => evaluate(context, { system: name, round, policy }));
      const reward = em.filter(Boolean).length / Math.max(1, em.length);
      send(exam, key, { round, phase: 'exam', step: 0, steps: 1, reward, agreement: null });
    },
    async close() {
      for (const own of trainees.values()) await own.close();
    },
  };
}
