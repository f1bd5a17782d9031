/** Probes of training. */
import type { Datum, OptimSettings, TrainingClient } from '../../engine.ts';
import { LARGEST_GAP, measureGap } from './gap.ts';
import {
  askFor,
  basePolicy,
  digits,
  equal,
  furthest,
  GREEDY,
  type Probe,
  type Subject,
  sampled,
  training,
  verdict,
} from './probe.ts';
import { CLOSE } from './sampling.ts';

const ADAM: OptimSettings = { learningRate: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, gradClip: 0 };

/** Every token of a prompt with the same weight. */
const lesson = (tokens: readonly number[]): Datum => ({ tokens, weights: tokens.slice(1).map(() => 0.25) });

/** The last token with an advantage, at ratio 1 where `old` is its log-probability. */
const toy = (tokens: readonly number[], advantage: number, old: number): Datum => {
  const T = tokens.length - 1;
  const last = (value: number): number[] => Array.from({ length: T }, (_, t) => (t === T - 1 ? value : 0));
  return { tokens, advantages: last(advantage), logprobs: last(old) };
};

const scores = async (client: TrainingClient, tokens: readonly number[]): Promise<readonly number[]> =>
  (await client.forward([lesson(tokens)], 'cross_entropy')).logprobs[0]!;

const lastScore = async (client: TrainingClient, tokens: readonly number[]): Promise<number> =>
  (await scores(client, tokens)).at(-1)!;

const learn = async (client: TrainingClient, tokens: readonly number[], over: Partial<OptimSettings> = {}) => {
  await client.forwardBackward([lesson(tokens)], 'cross_entropy');
  await client.optimStep({ ...ADAM, ...over });
};

/** What one importance_sampling step does to the log-probability of the last token of `tokens`. */
const moved = (
  subject: Subject,
  batch: (old: number) => readonly Datum[],
  tokens: readonly number[],
  optim: OptimSettings,
) =>
  training(subject, async (open) => {
    const client = await open();
    const old = await lastScore(client, tokens);
    const { loss } = await client.forwardBackward(batch(old), 'importance_sampling');
    const { gradNorm } = await client.optimStep(optim);
    return { loss, gradNorm, change: (await lastScore(client, tokens)) - old };
  });

/** Learning rate of a first step, and the change of a log-probability from which it is made smaller. */
const LARGE_RATE = 1e-4;
const STEEP = 0.1;

/** Adam with an eps far above all gradients is gradient descent with rate lr/eps: what a step does is then linear in everything. */
const EPS = 100;
const FIRST_RATE = 0.01;
/** Change of a log-probability that the scale is measured at: small enough to be linear, far above rounding. */
const CHANGE = 0.02;

export const TRAINING: readonly Probe[] = [
  {
    name: 'recomputation',
    quick: true,
    needs: 'training',
    async run({ engine, prompts }) {
      const { mean, worst, tokens } = await measureGap(engine, prompts);
      return verdict(
        Math.abs(mean) <= LARGEST_GAP && tokens > 0,
        `sampler and trainer differ by ${digits(mean)} nats a token, at most ${digits(worst)}, over ${tokens} tokens`,
        `at most ${LARGEST_GAP} a token`,
      );
    },
  },
  {
    name: 'gradient sign',
    quick: true,
    needs: 'training',
    async run(subject) {
      const tokens = subject.prompts[0]!;
      const rate = async (advantage: number, learningRate: number): Promise<number> =>
        (await moved(subject, (old) => [toy(tokens, advantage, old)], tokens, { ...ADAM, learningRate })).change;
      // As large as is still linear: some engines move much at a small rate, others round a small change away.
      const first = await rate(1, LARGE_RATE);
      const small = first > STEEP ? (LARGE_RATE * STEEP) / first / 2 : LARGE_RATE;
      const [up, down, twice] = [await rate(1, small), await rate(-1, small), await rate(1, 2 * small)];
      return verdict(
        up > 0 && down < 0 && twice / up > 1.5 && twice / up < 2.5,
        `advantage 1: ${digits(up)}, -1: ${digits(down)}, twice the rate: ${digits(twice)}`,
        'up, down, and about twice as far',
      );
    },
  },
  {
    name: 'gradient scale',
    quick: true,
    needs: 'training',
    async run(subject) {
      const tokens = subject.prompts[0]!;
      const at = (learningRate: number, batch: (old: number) => readonly Datum[]) =>
        moved(subject, batch, tokens, { ...ADAM, eps: EPS, learningRate });
      const one = (old: number): readonly Datum[] => [toy(tokens, 1, old)];
      const first = await at(FIRST_RATE, one);
      const rate = (FIRST_RATE * CHANGE) / Math.max(first.change, 1e-9);
      const { change, loss } = await at(rate, one);
      const changes = [
        change,
        (await at(rate, (old) => [toy(tokens, 2, old)])).change / 2,
        (await at(rate, (old) => [...one(old), ...one(old)])).change / 2,
        (await at(rate / 2, (old) => [toy(tokens, 2, old)])).change,
      ];
      return verdict(
        changes.every((c) => Math.abs(c / CHANGE - 1) < 0.2) && Math.abs(loss + 1) < 0.02,
        `changes ${changes.map(digits).join(', ')}; loss ${digits(loss)}`,
        `changes of ${CHANGE} by advantage, by sequence and by rate; loss -1: sums, as engine.ts says`,
      );
    },
  },
  {
    name: 'save and load',
    quick: true,
    needs: 'training',
    run: (subject) =>
      training(subject, async (open) => {
        const [tokens, other] = [subject.prompts[1]!, subject.prompts[2]!];
        const client = await open();
        await learn(client, tokens);
        const state = await client.save();
        const before = await scores(client, other);
        await learn(client, other);
        const unbroken = await scores(client, other);
        await client.close();
        const again = await open(state);
        const loaded = furthest(await scores(again, other), before);
        await learn(again, other);
        const resumed = furthest(await scores(again, other), unbroken);
        return verdict(
          loaded === 0 && resumed < CLOSE,
          `log-probabilities within ${digits(loaded)}, after one more step within ${digits(resumed)}`,
          `0 after loading, and within ${CLOSE} after a step with the saved optimizer`,
        );
      }),
  },
  {
    name: 'snapshots',
    quick: true,
    needs: 'training',
    run: (subject) =>
      training(subject, async (open) => {
        const asked = subject.prompts.slice(0, 3).map((prompt) => askFor(prompt, GREEDY));
        const client = await open();
        await learn(client, subject.prompts[1]!, { learningRate: 0.01 });
        const snapshot = await client.snapshot();
        const before = await sampled(snapshot, asked);
        await learn(client, subject.prompts[2]!, { learningRate: 0.03 });
        const after = await sampled(await subject.engine.policy(snapshot.id), asked);
        const newest = await sampled(await client.snapshot(), asked);
        const same = before.filter((c, i) => equal(c.tokens, after[i]!.tokens)).length;
        const gap = Math.max(...before.map((c, i) => furthest(c.logprobs, after[i]!.logprobs)));
        const moved = Math.max(
          ...before.map((c, i) => furthest(c.logprobs.slice(0, 1), newest[i]!.logprobs.slice(0, 1))),
        );
        return verdict(
          same === asked.length && gap < CLOSE && moved > gap,
          `after more training ${same} of ${asked.length} the same within ${digits(gap)}; the newest weights differ by ${digits(moved)}`,
          'a frozen policy stays what it was, and training moves the next one',
        );
      }),
  },
  {
    name: 'four adapters',
    quick: false,
    needs: 'training',
    run: (subject) =>
      training(subject, async (open) => {
        const lessons = [0, 1, 2, 3].map((i) => subject.prompts[i]!);
        const alone: (readonly number[])[] = [];
        for (const tokens of lessons) {
          const client = await open();
          await learn(client, tokens, { learningRate: 0.01 });
          alone.push(await scores(client, subject.prompts[0]!));
          await client.close();
        }
        const clients = [];
        for (const _ of lessons) clients.push(await open());
        for (const [i, client] of clients.entries())
          await client.forwardBackward([lesson(lessons[i]!)], 'cross_entropy');
        for (const client of clients) await client.optimStep({ ...ADAM, learningRate: 0.01 });
        const together = await Promise.all(clients.map((client) => scores(client, subject.prompts[0]!)));
        const leak = Math.max(...together.map((s, i) => furthest(s, alone[i]!)));
        const apart = Math.min(...together.slice(1).map((s) => furthest(s, together[0]!)));
        const base = await sampled(await basePolicy(subject), [askFor(subject.prompts[0]!, GREEDY)]);
        return verdict(
          leak < CLOSE && apart > leak && base[0]!.tokens.length > 0,
          `side by side as alone within ${digits(leak)}; from each other at least ${digits(apart)}`,
          `each as if it were alone, within ${CLOSE}`,
        );
      }),
  },
];
