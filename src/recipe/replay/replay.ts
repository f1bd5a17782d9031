/**
 * Fixed-bank replay (method.md section 4): the bank is frozen; per seed and arm its graders are fitted on it from the base
 * policy and answer it. Everything is journalled once, so the same command goes on where the last one stopped.
 */
import type { Engine, StateRef } from '../../engine.ts';
import type { Matcher } from '../../matcher.ts';
import { checkAncestry, FEEDBACK_PLANS } from '../../method/feedback.ts';
import type { LabelRule } from '../../method/label.ts';
import type { EvaluationRecord, StepRecord } from '../../record.ts';
import { lineage } from '../../store/descent.ts';
import type { Run } from '../../store/run.ts';
import type { Scope } from '../../store.ts';
import type { Context, Task } from '../../train/context.ts';
import { environment } from '../../train/context.ts';
import { costing } from '../../train/cost.ts';
import { evaluate } from '../../train/evaluate.ts';
import { grade } from '../../train/grade.ts';
import { judging } from '../../train/judged.ts';
import { putRollouts, type RolloutNote } from '../../train/measure.ts';
import { solverStep } from '../../train/solver.ts';
import { openTrainee, type Trainee } from '../../train/trainee.ts';
import { verifierNotes, verifyAll } from '../../train/verify.ts';
import type { Descent } from '../../types.ts';
import { Interrupted, UserError } from '../../util/error.ts';
import { contentId } from '../../util/id.ts';
import { baseDescent, descentOf } from '../descent.ts';
import { loopSettings } from '../evolve.ts';
import type { Progress } from '../progress.ts';
import { type Chain, sideBySide, stepName } from '../updates.ts';
import { type BankQuestion, bankLine } from './bank.ts';
import type { ReplayConfig } from './config.ts';
import { ARMS, type Arm, type Asking, askings, type Fit } from './plan.ts';
import type { ReplayAnswer, ReplaySetup, ReplayVerify } from './record.ts';

/** Questions asked at once: what an engine caches for them must fit in memory. */
const BATCH = 50;

export interface ReplayInput {
  readonly config: ReplayConfig;
  readonly run: Run;
  readonly engine: Engine;
  readonly task: Task;
  readonly matcher: Matcher;
  readonly bank: readonly BankQuestion[];
  readonly report: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

export async function replay(input: ReplayInput): Promise<void> {
  const { config, run, engine, task, matcher, bank, report, signal } = input;
  const arms = config.arms.map((name) => ARMS.find((arm) => arm.name === name)!);
  const probe = { ...task, gold: task.gold.filter((_, i) => i % Math.ceil(task.gold.length / config.probe) === 0) };
  const context: Context = {
    engine,
    blobs: run.blobs,
    task: probe,
    matcher,
    settings: loopSettings(config.loop),
  };
  run.watch(engine.busy);
  const meter = openMeter(config, arms, bank, engine, report, signal);
  const text = bank.map((item) => `${bankLine(item)}\n`).join('');
  await run.once<ReplaySetup>('setup', async () => ({
    kind: 'replay-setup',
    arms: config.arms,
    seeds: config.seeds,
    questions: bank.length,
    sources: new Set(bank.map(({ source }) => source)).size,
    task: task.name,
    engine: engine.fingerprint,
    base: engine.base,
    probe: probe.gold.length,
    bank: await run.blobs.put(Buffer.from(text)),
  }));
  const base = run.scope('base');
  const all: Asking = { fit: { name: 'base', auxiliary: null, on: [], updates: 0 }, asked: bank.map((_, i) => i) };
  await answer(base, 'answer', context, 'base', bank, [{ ...all, policy: engine.base.policy }], () => 0, meter);
  await examine(base, 'probe', context, 'base', engine.base, meter);
  // One for all fits: a training client is costly to open, and loading the base policy's state is not.
  const trainee = openTrainee(engine, context.settings);
  try {
    for (const seed of config.seeds) {
      const own = { ...context, settings: { ...context.settings, seed } };
      await replaySeed(run.scope(`seed${seed}`), own, trainee, arms, bank, config.updates, meter);
    }
  } finally {
    await trainee.close();
  }
  await run.once('done', async () => ({ kind: 'done' }));
}

type Meter = ReturnType<typeof openMeter>;
type Answering = Asking & { readonly policy: string };

async function replaySeed(
  scope: Scope,
  context: Context,
  trainee: Trainee,
  arms: readonly Arm[],
  drafts: readonly BankQuestion[],
  updates: number,
  meter: Meter,
): Promise<void> {
  const { engine, settings } = context;
  const banks = new Map<LabelRule, readonly BankQuestion[]>([['draft', drafts]]);
  if (arms.some(({ labels }) => labels === 'msv')) banks.set('msv', await verifiedBank(scope, context, drafts, meter));
  const planned = arms.map((arm) => {
    const bank = banks.get(arm.labels)!;
    return { arm, bank, askings: askings(arm, bank, settings.seed, updates) };
  });
  const fits = new Map<string, { fit: Fit; bank: readonly BankQuestion[]; marks: Set<number> }>();
  for (const { bank, askings: own } of planned) {
    for (const { fit } of own) {
      const known = fits.get(fit.name);
      if (known === undefined) fits.set(fit.name, { fit, bank, marks: new Set([fit.updates]) });
      else known.marks.add(fit.updates);
    }
  }
  const descents: Descent[] = [baseDescent(engine.base)];
  const states = new Map<string, StateRef>();
  for (const [name, { fit, bank, marks }] of fits) {
    for (const [at, state] of await fitGrader(scope, context, trainee, fit, bank, marks, descents, meter)) {
      states.set(`${name}@${at}`, state);
      await examine(scope, `probe/${name}@${at}`, context, name, state, meter);
    }
  }
  const { ancestry } = lineage(descents);
  for (const { arm, bank, askings: own } of planned) {
    const graders = own.map(
      (asking): Answering => ({ ...asking, policy: states.get(`${asking.fit.name}@${asking.fit.updates}`)!.policy }),
    );
    const overlapOf = ({ policy, asked }: Answering): number => {
      const questions = asked.map((i) => bank[i]!);
      const shared = new Set(checkAncestry(arm.plan, FEEDBACK_PLANS[arm.plan], policy, ancestry(policy), questions));
      return questions.filter(({ source }) => shared.has(source)).length;
    };
    await answer(scope, `answer/${arm.name}`, context, arm.name, bank, graders, overlapOf, meter);
  }
}

/** The states after the marked numbers of updates. */
async function fitGrader(
  scope: Scope,
  context: Context,
  trainee: Trainee,
  fit: Fit,
  bank: readonly BankQuestion[],
  marks: ReadonlySet<number>,
  descents: Descent[],
  meter: Meter,
): Promise<Map<number, StateRef>> {
  const { engine, settings } = context;
  const own = fit.on.map((i) => bank[i]!);
  const last = Math.max(...marks);
  if (own.length === 0) throw new UserError(`the bank has no question for the grader ${fit.name}; use a larger one`);
  const chain: Chain = {
    start: engine.base,
    count: last,
    key: (step) => `fit/${fit.name}/${stepName(step)}`,
    marked: (updates) => marks.has(updates),
    compute: (before, step) =>
      solverStep(context, trainee, {
        system: fit.name,
        round: 1,
        step,
        auxiliary: fit.auxiliary,
        before,
        bank: own,
        age: step,
      }),
  };
  const [states] = await sideBySide(scope, context, [chain], [engine.base], {
    begin: meter.begin,
    done(_, record, step, count) {
      const descent = descentOf(record);
      if (descent !== null) descents.push(descent);
      meter.step(settings.seed, record, step, count);
    },
  });
  return new Map([...marks].map((at) => [at, states![at - 1]!]));
}

async function answer(
  scope: Scope,
  key: string,
  context: Context,
  arm: string,
  bank: readonly BankQuestion[],
  graders: readonly Answering[],
  overlapOf: (answering: Answering) => number,
  meter: Meter,
): Promise<void> {
  meter.begin();
  const { settings } = context;
  const overlap = graders.reduce((sum, own) => sum + overlapOf(own), 0);
  await scope.once<ReplayAnswer>(key, async () => {
    const [own, cost] = costing(context);
    const found: { readonly at: number; readonly graded: Awaited<ReturnType<typeof grade>>[number] }[] = [];
    for (const { policy, asked } of graders) {
      const env = await environment(own, policy, 'solver');
      for (let from = 0; from < asked.length; from += BATCH) {
        const part = asked.slice(from, from + BATCH);
        const graded = await grade(
          part.map((i) => ({ ...bank[i]!, key: `${settings.seed}/replay/${bank[i]!.id}` })),
          settings.responses,
          env,
          own.matcher,
        );
        part.forEach((at, i) => {
          found.push({ at, graded: graded[i]! });
        });
      }
    }
    const inOrder = found.sort((a, b) => a.at - b.at).map(({ graded }) => graded);
    const notes = inOrder.flatMap(({ feedback, rollouts }, index) =>
      rollouts.map(
        (rollout, attempt): RolloutNote => ({
          role: 'solver',
          about: feedback.question,
          source: feedback.source,
          hops: feedback.hops,
          feedback: index,
          attempt,
          reward: feedback.matches[attempt] ? 1 : 0,
          advantage: null,
          rollout,
        }),
      ),
    );
    return {
      kind: 'replay-answer',
      arm,
      feedback: inOrder.map(({ feedback }) => feedback),
      failed: inOrder.reduce((sum, { failed }) => sum + failed, 0),
      overlap,
      ...cost(),
      rollouts: await putRollouts(context, notes),
    };
  });
  meter.answered(arm, bank.length);
}

async function examine(
  scope: Scope,
  key: string,
  context: Context,
  system: string,
  { policy }: StateRef,
  meter: Meter,
): Promise<void> {
  meter.begin();
  const { em } = await scope.once<EvaluationRecord>(key, () => evaluate(context, { system, round: 1, policy }));
  meter.examined(system, em.length);
}

/** MSV by the base policy over the whole bank; a question that it refuses is in no arm with verified labels. */
async function verifiedBank(
  scope: Scope,
  context: Context,
  drafts: readonly BankQuestion[],
  meter: Meter,
): Promise<readonly BankQuestion[]> {
  meter.begin();
  const { engine, settings, task } = context;
  const [counted, judged] = judging(context);
  const record = await scope.once<ReplayVerify>('verify', async () => {
    const candidates = drafts.map(({ id, question, label, source, hops }) => {
      const key = `${settings.seed}/replay verify/${contentId(id)}`;
      return { question, draft: label, source, hops, material: task.material(source, key), key };
    });
    const { verified, record: verification } = await verifyAll('msv', counted, engine.base.policy, candidates);
    return {
      kind: 'replay-verify',
      bank: drafts.flatMap((item, i) => {
        const label = verified[i]!.label?.answers[0];
        return label === undefined ? [] : [{ ...item, label }];
      }),
      verification: verification!,
      ...judged(),
      rollouts: await putRollouts(context, verifierNotes(candidates, verified)),
    };
  });
  meter.verified(drafts.length);
  return record.bank;
}

function openMeter(
  config: ReplayConfig,
  arms: readonly Arm[],
  bank: readonly BankQuestion[],
  engine: Engine,
  report: (progress: Progress) => void,
  signal: AbortSignal,
) {
  const { responses, questions } = config.loop;
  const stepCost = questions * responses * 1.5;
  const msv = arms.some(({ labels }) => labels === 'msv') ? 6 * bank.length : 0;
  const names = new Map<string, number>();
  for (const arm of arms)
    for (const { fit } of askings(arm, bank, 0, config.updates))
      names.set(fit.name, Math.max(names.get(fit.name) ?? 0, fit.updates));
  const fitted = [...names.values()].reduce((sum, n) => sum + n, 0);
  const seed = msv + fitted * stepCost + names.size * config.probe + arms.length * bank.length * responses;
  const total = bank.length * responses + config.probe + config.seeds.length * seed;
  let done = 0;
  let round = 0;
  const send = (units: number, at: Pick<Progress, 'system' | 'phase' | 'step' | 'steps' | 'reward' | 'agreement'>) => {
    done += units;
    const { sampled, prefilled, trained } = engine.usage();
    report({ key: at.system, round, ...at, done, total, tokens: sampled + prefilled + trained });
  };
  const once = { step: 0, steps: 1, reward: null, agreement: null } as const;
  return {
    begin(): void {
      if (signal.aborted) throw new Interrupted('stopped between two steps; run the same command again to go on');
    },
    step(seed: number, { system, reward, agreement }: StepRecord, step: number, steps: number): void {
      round = config.seeds.indexOf(seed) + 1;
      send(stepCost, { system, phase: 'fit', step, steps, reward: reward.mean, agreement });
    },
    answered: (system: string, n: number) => send(n * responses, { ...once, system, phase: 'answer' }),
    examined: (system: string, n: number) => send(n, { ...once, system, phase: 'probe' }),
    verified: (n: number) => send(6 * n, { ...once, system: 'msv', phase: 'verify' }),
  };
}
