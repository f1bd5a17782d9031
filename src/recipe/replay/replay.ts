/**
 * Fixed-bank replay (method.md section 4): the bank is frozen; per seed and arm its graders are fitted on it from the base
 * policy and answer it. Everything is journalled once, by seed and grader: the same command goes on where the last one
 * stopped, and one that asks for more seeds or arms computes those alone.
 */
import type { Engine, StateRef } from '../../engine.ts';
import type { Matcher } from '../../matcher.ts';
import { checkAncestry, FEEDBACK_PLANS } from '../../method/feedback.ts';
import type { LabelRule } from '../../method/label.ts';
import type { EvaluationRecord } from '../../record.ts';
import { lineage } from '../../store/descent.ts';
import type { Run } from '../../store/run.ts';
import type { Scope } from '../../store.ts';
import type { Context, Task } from '../../train/context.ts';
import { environment } from '../../train/context.ts';
import { costing } from '../../train/cost.ts';
import { evaluate } from '../../train/evaluate.ts';
import { grade } from '../../train/grade.ts';
import { judging } from '../../train/judged.ts';
import { answerNote, putRollouts } from '../../train/measure.ts';
import { openTrainee, type Trainee } from '../../train/trainee.ts';
import { verifierNotes, verifyAll } from '../../train/verify.ts';
import type { Descent } from '../../types.ts';
import { contentId } from '../../util/id.ts';
import { baseDescent } from '../descent.ts';
import { loopSettings } from '../evolve.ts';
import type { Progress } from '../progress.ts';
import { type BankQuestion, bankLine } from './bank.ts';
import type { ReplayConfig, ReplayRequest } from './config.ts';
import { distinctFits, type Fitted, fitGrader } from './fit.ts';
import { type Meter, openMeter } from './meter.ts';
import { armNamed, checkVerified } from './parts.ts';
import { type Arm, type Asking, askings } from './plan.ts';
import type { ReplayAnswer, ReplaySetup, ReplayVerify } from './record.ts';

/** Questions asked at once: what an engine caches for them must fit in memory. */
const BATCH = 50;

export interface ReplayInput {
  readonly config: ReplayConfig;
  readonly request: ReplayRequest;
  readonly run: Run;
  readonly engine: Engine;
  readonly task: Task;
  readonly matcher: Matcher;
  readonly bank: readonly BankQuestion[];
  readonly report: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

/** @throws UserError: MSV admitted too few questions for a grader of some arm. What was computed until then is kept. */
export async function replay(input: ReplayInput): Promise<void> {
  const { config, request, run, engine, task, matcher, bank, report, signal } = input;
  const arms = request.arms.map(armNamed);
  const probe = { ...task, gold: task.gold.filter((_, i) => i % Math.ceil(task.gold.length / config.probe) === 0) };
  const context: Context = {
    engine,
    blobs: run.blobs,
    task: probe,
    matcher,
    settings: loopSettings(config.loop),
  };
  run.watch(engine.busy);
  const meter = openMeter(config, request.seeds, arms, bank, engine, report, signal);
  const text = bank.map((item) => `${bankLine(item)}\n`).join('');
  await run.once<ReplaySetup>('setup', async () => ({
    kind: 'replay-setup',
    questions: bank.length,
    sources: new Set(bank.map(({ source }) => source)).size,
    task: task.name,
    engine: engine.fingerprint,
    base: engine.base,
    probe: probe.gold.length,
    bank: await run.blobs.put(Buffer.from(text)),
  }));
  const base = run.scope('base');
  const askBase = async (): Promise<readonly Grader[]> => [
    { policy: engine.base.policy, asked: bank.map((_, i) => i), overlap: 0 },
  ];
  await answer(base, 'answer', context, 'base', bank, askBase, meter);
  await examine(base, 'probe', context, 'base', async () => engine.base, meter);
  const seeds = request.seeds.map((seed) => ({
    scope: run.scope(`seed${seed}`),
    context: { ...context, settings: { ...context.settings, seed } },
    banks: new Map<LabelRule, readonly BankQuestion[]>([['draft', bank]]),
  }));
  // All seeds before the first fit: a bank of which MSV admits too little is known of early.
  const verified = arms.filter(({ labels }) => labels === 'msv').map(({ name }) => name);
  if (verified.length > 0)
    for (const { scope, context: own, banks } of seeds) {
      const admitted = await verifiedBank(scope, own, bank, meter);
      checkVerified(admitted, bank.length, verified, own.settings.seed);
      banks.set('msv', admitted);
    }
  // One for all fits: a training client is costly to open, and loading the base policy's state is not.
  const trainee = openTrainee(engine, context.settings);
  try {
    for (const seed of seeds) await replaySeed({ ...seed, trainee, arms, updates: config.updates, meter });
  } finally {
    await trainee.close();
  }
}

interface Seed {
  readonly scope: Scope;
  readonly context: Context;
  readonly banks: ReadonlyMap<LabelRule, readonly BankQuestion[]>;
  readonly trainee: Trainee;
  readonly arms: readonly Arm[];
  readonly updates: number;
  readonly meter: Meter;
}

interface Grader {
  readonly policy: string;
  /** Places of the questions that it is asked. */
  readonly asked: readonly number[];
  /** How many of them have a source in its ancestry. */
  readonly overlap: number;
}

async function replaySeed({ scope, context, banks, trainee, arms, updates, meter }: Seed): Promise<void> {
  const { engine, settings } = context;
  const planned = arms.map((arm) => {
    const bank = banks.get(arm.labels)!;
    return { arm, bank, askings: askings(arm, bank, settings.seed, updates) };
  });
  const descents: Descent[] = [baseDescent(engine.base)];
  const descended = (descent: Descent): void => void descents.push(descent);
  const fitted = new Map<string, Fitted>();
  for (const wanted of distinctFits(planned)) {
    const keep = [...fitted.values()].map(({ state }) => state);
    const { name } = wanted.fit;
    for (const own of await fitGrader(wanted, { scope, context, trainee, meter, keep, descended })) {
      const at = `${name}@${own.updates}`;
      fitted.set(at, own);
      await examine(scope, `probe/${at}`, context, name, own.ready, meter);
    }
  }
  for (const { arm, bank, askings: own } of planned) {
    const graders = async (): Promise<Grader[]> => {
      const ready: (Asking & { readonly policy: string })[] = [];
      for (const asking of own) {
        const { policy } = await fitted.get(`${asking.fit.name}@${asking.fit.updates}`)!.ready();
        ready.push({ ...asking, policy });
      }
      const { ancestry } = lineage(descents);
      return ready.map(({ policy, asked }) => {
        const questions = asked.map((i) => bank[i]!);
        const shared = new Set(checkAncestry(arm.plan, FEEDBACK_PLANS[arm.plan], policy, ancestry(policy), questions));
        return { policy, asked, overlap: questions.filter(({ source }) => shared.has(source)).length };
      });
    };
    await answer(scope, `answer/${arm.name}`, context, arm.name, bank, graders, meter);
  }
}

async function answer(
  scope: Scope,
  key: string,
  context: Context,
  arm: string,
  bank: readonly BankQuestion[],
  gradersOf: () => Promise<readonly Grader[]>,
  meter: Meter,
): Promise<void> {
  meter.begin();
  const { settings } = context;
  await scope.once<ReplayAnswer>(key, async () => {
    const graders = await gradersOf();
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
      rollouts.map((rollout, attempt) =>
        answerNote(feedback, rollout, { feedback: index, attempt, reward: feedback.matches[attempt] ? 1 : 0 }),
      ),
    );
    return {
      kind: 'replay-answer',
      arm,
      feedback: inOrder.map(({ feedback }) => feedback),
      failed: inOrder.reduce((sum, { failed }) => sum + failed, 0),
      overlap: graders.reduce((sum, { overlap }) => sum + overlap, 0),
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
  stateOf: () => Promise<StateRef>,
  meter: Meter,
): Promise<void> {
  meter.begin();
  const { em } = await scope.once<EvaluationRecord>(key, async () =>
    evaluate(context, { system, round: 1, policy: (await stateOf()).policy }),
  );
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
