/** A small run on disk that looks like the loop's: two systems, shared first round, auxiliaries under crossfit. */
import { gzipSync } from 'node:zlib';
import type { Auditor } from '../../src/auditor.ts';
import { foldOf, otherFold } from '../../src/method/fold.ts';
import type {
  BankItem,
  EvaluationRecord,
  RolloutRecord,
  SetupRecord,
  StepRecord,
  WriteRecord,
} from '../../src/record.ts';
import { openRun, type Run } from '../../src/store/run.ts';
import type { Scope } from '../../src/store.ts';
import type { Feedback, Hops, Rollout } from '../../src/types.ts';
import { rng } from '../../src/util/rng.ts';

/** The reference stands in the question: "What colour is s1? (blue)"; "(?)" cannot be resolved. */
export const fixtureAuditor: Auditor = {
  name: 'fixture',
  judge: async (items) =>
    items.map(({ question, label, responses }) => {
      const reference = /\((.*)\)/.exec(question)![1]!;
      if (reference === '?') return { resolved: false, why: 'no reference' };
      const right = (answer: string | null) => answer === reference;
      return { resolved: true, reference, labelCorrect: right(label), responseCorrect: responses.map(right) };
    }),
};

/** `cells` is one letter a response: C D under a correct label, F L N under a wrong one, U where nothing is resolved. */
export function asked(source: string, hops: Hops, cells: string, grader = 'base'): Feedback {
  const labelRight = /[CD]/.test(cells);
  const label = labelRight ? 'blue' : 'red';
  const answers: Readonly<Record<string, string>> = {
    C: 'blue',
    D: 'green',
    F: 'red',
    L: 'blue',
    N: 'green',
    U: 'red',
  };
  const responses = [...cells].map((cell) => answers[cell]!);
  const reference = cells.includes('U') ? '?' : 'blue';
  return {
    question: `What colour is ${source} after ${hops} hops? (${reference})`,
    source,
    hops,
    label,
    grader,
    responses,
    matches: responses.map((response) => response === label),
  };
}

export interface StepAt {
  readonly system: string;
  readonly round: number;
  readonly phase: 'proposer' | 'solver' | 'auxiliary';
  readonly step: number;
  readonly auxiliary: 0 | 1 | null;
}

export interface Shape {
  readonly rounds: number;
  readonly proposerSteps: number;
  readonly solverSteps: number;
  readonly questions: number;
  readonly sources: number;
  readonly gold: number;
  readonly done: boolean;
  readonly feedback: (at: StepAt, shape: Shape) => readonly Feedback[];
}

/** Draws like those of a coupled system that drifts, and of crossfit, which does not. */
export function plausible({ system, round, phase, step, auxiliary }: StepAt, shape: Shape): Feedback[] {
  const random = rng(system, round, phase, step, auxiliary ?? '');
  const late = round - 1 + step / 20;
  const coupled = system !== 'crossfit';
  const truth = 0.72 + (coupled ? 0.005 : 0.04) * late;
  const skill = 0.45 + 0.08 * late + (phase === 'solver' ? 0.05 : 0);
  const memory = (phase === 'proposer' && !coupled ? 0.03 : 0.06 + 0.09 * late) + (phase === 'solver' ? 0.05 : 0);
  return Array.from({ length: shape.questions }, (_, q) => {
    const source = `s${random.below(shape.sources)}`;
    const right = random.uniform() < truth;
    const cell = () =>
      right ? (random.uniform() < skill ? 'C' : 'D') : 'FLN'[random.weighted([memory, skill / 3, 1 - memory])]!;
    const cells = random.uniform() < 0.1 ? 'UUUUU' : Array.from({ length: 5 }, cell).join('');
    return asked(source, ((q % 4) + 1) as Hops, cells);
  });
}

export const TINY: Shape = {
  rounds: 3,
  proposerSteps: 2,
  solverSteps: 3,
  questions: 8,
  sources: 12,
  gold: 40,
  done: true,
  feedback: plausible,
};

const SEED = 1;
const SYSTEMS = ['dr-zero', 'crossfit'] as const;

/** The folder of a run with the given differences from `TINY`. */
export async function writeRun(dir: string, differences: Partial<Shape> = {}): Promise<void> {
  const shape = { ...TINY, ...differences };
  const config = { systems: SYSTEMS, rounds: shape.rounds, note: '<script>alert(1)</script>' };
  const run = await openRun(dir, { recipe: 'compare', config, seed: SEED, codeVersion: '0.1.0', parents: [] });
  const write = <T>(scope: Scope, key: string, value: T): Promise<T> => scope.once(key, async () => value);
  await write<SetupRecord>(run, 'setup', {
    kind: 'setup',
    systems: SYSTEMS,
    rounds: shape.rounds,
    task: 'fixture',
    engine: 'none',
    base: { policy: 'base', optimizer: null },
    sources: shape.sources,
    passages: shape.sources,
    gold: shape.gold,
    parameters: 1_000_000,
  });
  await write(run, 'base/evaluate', await examOf(run, 'base', 0, 'base', shape));
  const first = await writeRound(
    run,
    shape,
    { system: 'shared', round: 1, solver: 'base', proposer: 'base' },
    () => 'base',
  );
  for (const system of SYSTEMS) {
    let { solver, proposer } = first;
    const auxiliaries: [string, string] = ['base', 'base'];
    for (let round = 2; round <= shape.rounds; round++) {
      if (system === 'crossfit') {
        for (const auxiliary of [0, 1] as const) {
          const at = { system, round: round - 1, phase: 'auxiliary', auxiliary } as const;
          auxiliaries[auxiliary] = await writeSteps(run, shape, at, 2, auxiliaries[auxiliary], null);
        }
      }
      const main = solver;
      const grader = (source: string) => (system === 'crossfit' ? auxiliaries[otherFold(foldOf(SEED, source))] : main);
      ({ solver, proposer } = await writeRound(run, shape, { system, round, solver, proposer }, grader));
    }
  }
  if (shape.done) await write(run, 'done', { kind: 'done' });
  await run.close();
}

interface RoundStart {
  readonly system: string;
  readonly round: number;
  readonly solver: string;
  readonly proposer: string;
}

async function writeRound(run: Run, shape: Shape, start: RoundStart, graderOf: (source: string) => string) {
  const { system, round } = start;
  const prefix = run.scope(prefixOf(start));
  const own = { system, round, auxiliary: null };
  const proposer = await writeSteps(
    run,
    shape,
    { ...own, phase: 'proposer' },
    shape.proposerSteps,
    start.proposer,
    graderOf,
  );
  const bank = shape
    .feedback({ ...own, phase: 'proposer', step: 99 }, shape)
    .map(({ question, label, source, hops }, i): BankItem => ({ id: `${system}/${i}`, question, label, source, hops }));
  const record: WriteRecord = {
    kind: 'write',
    system,
    round,
    bank,
    tried: bank.length + 3,
    refused: { answer_in_question: 2, empty: 1 },
    verification: null,
    usage: { sampled: 100, prefilled: 400, trained: 0 },
    rollouts: await putRollouts(run, []),
    policy: proposer,
  };
  await prefix.once('write', async () => record);
  const solver = await writeSteps(run, shape, { ...own, phase: 'solver' }, shape.solverSteps, start.solver, null);
  const exam = await examOf(run, system, round, solver, shape);
  await prefix.once('evaluate', async () => exam);
  return { proposer, solver };
}

const prefixOf = ({ system, round }: { readonly system: string; readonly round: number }): string =>
  system === 'shared' ? `round${round}` : `${system}/round${round}`;

/** Returns the last policy. Without `graderOf` the trained policy is the grader. */
async function writeSteps(
  run: Run,
  shape: Shape,
  at: Omit<StepAt, 'step'>,
  count: number,
  start: string,
  graderOf: ((source: string) => string) | null,
): Promise<string> {
  let policy = start;
  const folder = `${prefixOf(at)}/${at.phase}${at.auxiliary ?? ''}`;
  for (let step = 0; step < count; step++) {
    const name = `${folder}/${String(step).padStart(3, '0')}`;
    const ownFold = ({ source }: Feedback) => at.auxiliary === null || foldOf(SEED, source) === at.auxiliary;
    const before = policy;
    const feedback = shape
      .feedback({ ...at, step }, shape)
      .filter(ownFold)
      .map((f) => ({ ...f, grader: graderOf === null ? before : graderOf(f.source) }));
    const record = await stepRecord(run, at, step, feedback, before, name);
    await run.once(name, async () => record);
    policy = name;
  }
  return policy;
}

async function stepRecord(
  run: Run,
  at: Omit<StepAt, 'step'>,
  step: number,
  feedback: readonly Feedback[],
  before: string,
  after: string,
): Promise<StepRecord> {
  const matches = feedback.flatMap((f) => f.matches);
  const agreement = matches.length === 0 ? null : matches.filter(Boolean).length / matches.length;
  const late = at.round + step / 20;
  const parts = {
    thinking: 0.98,
    tools: 0.9,
    question: 0.97,
    answer: 0.95,
    format: 0.95,
    difficulty: 0.2 + 0.06 * late,
  };
  return {
    kind: 'step',
    ...at,
    step,
    feedback,
    reward:
      at.phase === 'proposer'
        ? { mean: 0.475 + parts.difficulty, parts }
        : { mean: agreement ?? 0, parts: { match: agreement ?? 0 } },
    agreement,
    counts: { trajectories: feedback.length, formed: feedback.length, failed: 0, idleGroups: 1, groups: 4 },
    hops: { 1: 4, 2: 3, 3: 2, 4: 1 },
    rollout: { searches: 0.8 + 0.3 * late, tokens: 30 + 4 * late, entropy: 0.9 - 0.15 * late },
    update: { loss: -0.01, gradNorm: 0.4, learningRate: 0.001, klSamplerTrainer: 1e-5, trajectories: 8, trained: 6 },
    verification: null,
    usage: { sampled: 1000, prefilled: 4000, trained: 800 },
    responses: 5,
    rollouts: await putRollouts(
      run,
      feedback.flatMap((f, i) => rolloutsOf(f, i, at.phase)),
    ),
    before: { policy: before, optimizer: null },
    after: { policy: after, optimizer: null },
  };
}

const putRollouts = (run: Run, records: readonly RolloutRecord[]): Promise<string> =>
  run.blobs.put(gzipSync(records.map((record) => `${JSON.stringify(record)}\n`).join('')));

export const HOSTILE = '<img src=x onerror=alert(1)> \u001b[2J\u202egnp.exe';

function rolloutsOf(feedback: Feedback, index: number, phase: string): RolloutRecord[] {
  const { question, source, hops, label } = feedback;
  const rollout = (answer: string | null): Rollout => ({
    turns: [],
    stop: answer === null ? 'turn-limit' : 'answer',
    answer,
    question: null,
    searches: 1,
    malformedCall: false,
  });
  const common = { source, hops, feedback: index };
  const own: RolloutRecord[] =
    phase === 'proposer'
      ? [
          {
            ...common,
            role: 'proposer',
            about: source,
            attempt: 0,
            reward: 0.9,
            advantage: 0.4,
            rollout: { ...rollout(label), question },
            text: [
              { kind: 'prompt', text: `document ${source} ${HOSTILE}` },
              { kind: 'reply', text: `<question>${question}</question>` },
            ],
          },
        ]
      : [];
  const answers = feedback.responses.map(
    (response, attempt): RolloutRecord => ({
      ...common,
      role: 'solver',
      about: question,
      attempt,
      reward: feedback.matches[attempt] ? 1 : 0,
      advantage: null,
      rollout: rollout(response),
      text: [
        { kind: 'prompt', text: question },
        { kind: 'reply', text: '<search>colour</search>' },
        { kind: 'search', text: HOSTILE },
        { kind: 'reply', text: `<answer>${response}</answer>` },
      ],
    }),
  );
  return [...own, ...answers];
}

async function examOf(
  run: Run,
  system: string,
  round: number,
  policy: string,
  shape: Shape,
): Promise<EvaluationRecord> {
  const random = rng('exam', system, round);
  const em = Array.from({ length: shape.gold }, () => random.uniform() < 0.4 + 0.08 * round);
  return {
    kind: 'evaluation',
    system,
    round,
    policy,
    hops: em.map((_, i) => ((i % 4) + 1) as Hops),
    em,
    coverEm: em.map((right, i) => right || i % 10 === 0),
    searches: 1.2,
    unanswered: 1,
    failed: [3],
    usage: { sampled: 50, prefilled: 300, trained: 0 },
    rollouts: await putRollouts(run, []),
  };
}
