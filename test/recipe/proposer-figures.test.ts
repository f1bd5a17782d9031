/** What the proposer's updates cost and gave, on two made-up steps with numbers worked by hand. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Line } from '../../src/recipe/rounds.ts';
import { proposerFigures, proposerSpreads } from '../../src/recipe/seeds/proposers.ts';
import type { StepRecord } from '../../src/record.ts';

interface Made {
  readonly rewards: readonly (number | null)[];
  readonly mean: number;
  readonly trained: number;
  readonly responses: number;
}

/** Two prompts, four trajectories. Solver rollouts in the blob have rewards too, which are not the proposer's. */
function step({ mean, trained, responses }: Made, index: number): Line<StepRecord> {
  const record = {
    reward: { mean, parts: {} },
    counts: { trajectories: 4 },
    update: { trajectories: 4, trained },
    responses,
    usage: { sampled: 100, prefilled: 400, trained: 30 },
    rollouts: `blob${index}`,
  };
  return { key: `round1/proposer/00${index}`, ms: 1500, record } as unknown as Line<StepRecord>;
}

const MADE: readonly Made[] = [
  // Mean .5, squares .25 .0 .25 .0: variance .5 / 3.
  { rewards: [0, 0.5, 1, 0.5], mean: 0.5, trained: 2, responses: 16 },
  // One was lost: mean .5, squares .25 .25 0: variance .5 / 2.
  { rewards: [0, 1, 0.5, null], mean: 0.6, trained: 1, responses: 12 },
];

const blobsOf = (held: readonly string[]) => ({
  has: async (id: string) => held.includes(id),
  get: async (id: string) => {
    const { rewards } = MADE[Number(id.at(-1))]!;
    const lines = [
      ...rewards.map((reward) => ({ role: 'proposer', reward })),
      ...[1, 1, 0, 1].map((reward) => ({ role: 'solver', reward })),
      { role: 'verifier', reward: null },
    ];
    return gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  },
});

const STEPS = MADE.map(step);

it('measures what a prompt cost, and the spread of its rewards', async () => {
  const figures = await proposerFigures(STEPS, 2, blobsOf(['blob0', 'blob1']));
  expect(figures.variance).toBeCloseTo((0.5 / 3 + 0.5 / 2) / 2, 12);
  expect({ ...figures, variance: null }).toEqual({
    updates: 2,
    proposals: 2,
    responses: 14,
    variance: null,
    trainedShare: 3 / 8,
    prefilled: 800,
    sampled: 200,
    trained: 60,
    ms: 3000,
    firstReward: 0.5,
    lastReward: 0.6,
  });
});

it('has no variance without the rollouts, and leaves it out of the mean over seeds', async () => {
  const [whole, bare] = [
    await proposerFigures(STEPS, 2, blobsOf(['blob1'])),
    await proposerFigures(STEPS, 2, blobsOf([])),
  ];
  expect([whole.variance, bare.variance]).toEqual([0.25, Number.NaN]);
  const { variance, responses } = proposerSpreads([whole, bare]);
  expect(variance).toEqual({ mean: 0.25, sd: null, values: [0.25] });
  expect(responses).toEqual({ mean: 14, sd: 0, values: [14, 14] });
});
