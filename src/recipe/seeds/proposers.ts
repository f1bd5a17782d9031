/** What the proposer's updates of a run cost and gave, its shared part included (method.md section 1: HRPO against GRPO). */
import { mean, meanSd } from '../../method/statistics.ts';
import type { StepRecord } from '../../record.ts';
import type { RunReader } from '../../store/read.ts';
import { getRollouts } from '../../train/measure.ts';
import type { Line } from '../rounds.ts';
import { timeOf } from '../time.ts';
import { type Spread, spreadOf } from './spread.ts';

/** Of one run. NaN where nothing was measured. */
export interface ProposerFigures {
  readonly updates: number;
  /** Trajectories a prompt. */
  readonly proposals: number;
  /** Solver rollouts a prompt; proposals behind the gate are asked to nobody. */
  readonly responses: number;
  /** Sample variance of the rewards of a step's proposals; mean over steps. */
  readonly variance: number;
  /** Share of the trajectories that had an advantage other than 0. */
  readonly trainedShare: number;
  /** Tokens; the engine's work for verification is part of them. */
  readonly prefilled: number;
  readonly sampled: number;
  readonly trained: number;
  readonly ms: number;
  /** Mean reward of the first and the last step. */
  readonly firstReward: number;
  readonly lastReward: number;
}

export type ProposerSpreads = Readonly<Record<keyof ProposerFigures, Spread>>;

/** `steps` are the proposer's, in order; `prompts` a step. */
export async function proposerFigures(
  steps: readonly Line<StepRecord>[],
  prompts: number,
  blobs: RunReader['blobs'],
): Promise<ProposerFigures> {
  const records = steps.map(({ record }) => record);
  const total = (of: (record: StepRecord) => number): number => records.reduce((sum, record) => sum + of(record), 0);
  const variances: number[] = [];
  for (const { rollouts } of records) {
    // A report needs run.json and the journal; who copied these alone has no variance.
    const sd = (await blobs.has(rollouts)) ? meanSd(await rewardsIn(blobs, rollouts)).sd : null;
    if (sd !== null) variances.push(sd ** 2);
  }
  return {
    updates: records.length,
    proposals: total(({ counts }) => counts.trajectories) / (records.length * prompts),
    responses: total(({ responses }) => responses) / records.length,
    variance: variances.length === 0 ? Number.NaN : mean(variances),
    trainedShare: total(({ update }) => update.trained) / total(({ update }) => update.trajectories),
    prefilled: total(({ usage }) => usage.prefilled),
    sampled: total(({ usage }) => usage.sampled),
    trained: total(({ usage }) => usage.trained),
    ms: timeOf(steps).ms,
    firstReward: records[0]?.reward.mean ?? Number.NaN,
    lastReward: records.at(-1)?.reward.mean ?? Number.NaN,
  };
}

/** Rewards of the proposals; those lost to an outage or dropped by the gate have none. */
async function rewardsIn(blobs: RunReader['blobs'], id: string): Promise<number[]> {
  const rollouts = await getRollouts({ blobs }, id);
  return rollouts.flatMap(({ role, reward }) => (role === 'proposer' && reward !== null ? [reward] : []));
}

/** Over seeds, of which there is at least one. */
export const proposerSpreads = (runs: readonly ProposerFigures[]): ProposerSpreads =>
  Object.fromEntries(
    (Object.keys(runs[0]!) as (keyof ProposerFigures)[]).map((figure) => [
      figure,
      spreadOf(runs.map((run) => run[figure]).filter((value) => !Number.isNaN(value))),
    ]),
  ) as Record<keyof ProposerFigures, Spread>;
