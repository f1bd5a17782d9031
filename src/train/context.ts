/** What every step of the loop works with, and the parts that do not change during a run. */
import type { Auditor } from '../auditor.ts';
import type { Dialect } from '../dialect.ts';
import type { Engine } from '../engine.ts';
import type { Matcher } from '../matcher.ts';
import type { Estimator } from '../method/advantage.ts';
import type { LossMean, Role } from '../method/mask.ts';
import type { ProposerRewardSettings } from '../method/proposer-reward.ts';
import type { HopMix, SourcePool } from '../method/schedule.ts';
import type { Retriever } from '../retriever.ts';
import type { Environment } from '../rollout/converse.ts';
import type { Blobs } from '../store.ts';
import type { Question, Source } from '../types.ts';

/** Sources, search, truth and exam: what the agents live in. */
export interface Task {
  readonly name: string;
  readonly dialect: Dialect;
  readonly retriever: Retriever;
  readonly auditor: Auditor;
  /** Ids of the recurring pool. */
  readonly sources: readonly string[];
  readonly passages: number;
  readonly hopMix: HopMix;
  readonly limits: Readonly<Record<Role, Environment['limits']>>;
  /** Held-out questions with gold answers. */
  readonly gold: readonly Question[];
  /** How many facts a written question really chains, whatever its prompt asked for; null where the text does not say. */
  hopsOf?(question: string): number | null;
  /** What a question asks whatever its wording; null where its text does not say. */
  factOf?(question: string): string | null;
  /** What the proposer reads of a source; a long one is read in keyed parts. */
  material(source: string, key: string): Source;
  sourceText(source: string): string;
}

export interface LoopSettings {
  readonly seed: number;
  readonly rounds: number;
  readonly proposerSteps: number;
  readonly prompts: number;
  readonly admitted: number;
  readonly solverSteps: number;
  readonly questions: number;
  readonly auxiliarySteps: number;
  readonly responses: number;
  readonly sourcePool: SourcePool;
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly estimator: Estimator;
  readonly reward: ProposerRewardSettings;
  readonly lossMean: LossMean;
  readonly proposerRate: number;
  readonly solverRate: number;
  readonly warmupSteps: number;
  readonly weightDecay: number;
  readonly gradClip: number;
}

export interface Context {
  readonly engine: Engine;
  readonly blobs: Blobs;
  readonly task: Task;
  readonly matcher: Matcher;
  readonly settings: LoopSettings;
}

/** The rollout environment of one policy in one role. */
export async function environment(
  { engine, task, settings }: Context,
  policy: string,
  role: Role,
  sampling = { temperature: settings.temperature, topP: settings.topP },
): Promise<Environment> {
  return {
    policy: await engine.policy(policy),
    tokenizer: engine.tokenizer,
    dialect: task.dialect,
    retriever: task.retriever,
    topK: settings.topK,
    limits: task.limits[role],
    sampling,
  };
}
