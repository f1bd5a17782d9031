/** A context whose policies speak dialect `compact` by script, and whose training data can be looked at. */
import { memoryBlobs } from '../../src/cli/memory-blobs.ts';
import { type Script, scriptedEngine } from '../../src/engine/scripted.ts';
import type { Datum, Engine, Loss } from '../../src/engine.ts';
import { exact } from '../../src/matcher/exact.ts';
import { PROPOSER_REWARD } from '../../src/method/proposer-reward.ts';
import { COMPACT_TAGS, compact } from '../../src/text/dialect/compact.ts';
import type { Context, LoopSettings, Task } from '../../src/train/context.ts';

const limits = { turns: 5, tokensPerTurn: 100, contextLength: 2000 };

export interface Update {
  readonly data: readonly Datum[];
  readonly loss: Loss;
}

export interface Fixture {
  readonly context: Context;
  /** What each optimizer step was made of. */
  readonly updates: readonly Update[];
}

/** `script` gets the decoded prompt and the request, whose key says which conversation it is. */
export function fixture(
  script: Script,
  settings: Partial<LoopSettings> = {},
  task: Partial<Task> = {},
  tags: readonly string[] = COMPACT_TAGS,
): Fixture {
  const updates: Update[] = [];
  const source = (id: string) => ({ id, title: id, text: `${id}: home Fair Mere.` });
  const context: Context = {
    engine: watched(scriptedEngine({ script, tags }), updates),
    blobs: memoryBlobs(),
    matcher: exact,
    task: {
      name: 'fixture',
      dialect: compact,
      retriever: {
        fingerprint: 'one',
        search: async (queries) =>
          queries.map((q) => [{ passage: { id: q, source: q, title: q, text: `${q}: home Port Ellow.` }, score: 1 }]),
      },
      auditor: { name: 'none', judge: async () => [] },
      sources: ['a', 'b', 'c', 'd'],
      passages: 4,
      hopMix: [1, 0, 0, 0],
      limits: { proposer: limits, solver: limits },
      gold: [],
      material: source,
      sourceText: (id) => source(id).text,
      ...task,
    },
    settings: {
      seed: 1,
      rounds: 1,
      proposerSteps: 1,
      prompts: 4,
      admitted: 4,
      solverSteps: 10,
      questions: 2,
      auxiliarySteps: 1,
      responses: 5,
      sourcePool: 'recurring',
      temperature: 1,
      topP: 1,
      topK: 2,
      estimator: 'hrpo',
      reward: PROPOSER_REWARD,
      lossMean: 'sequence',
      proposerRate: 1e-3,
      solverRate: 1e-3,
      warmupSteps: 0,
      weightDecay: 0,
      gradClip: 1,
      ...settings,
    },
  };
  return { context, updates };
}

function watched(engine: Engine, updates: Update[]): Engine {
  return {
    ...engine,
    async train(state) {
      const client = await engine.train(state);
      return {
        ...client,
        forwardBackward(data, loss) {
          updates.push({ data, loss });
          return client.forwardBackward(data, loss);
        },
      };
    },
  };
}

/** Text of the tokens that a datum trains. */
export function trainedText({ engine }: Context, { tokens, advantages, weights }: Datum): string {
  const on = (advantages ?? weights)!;
  return engine.tokenizer.decode(tokens.slice(1).filter((_, t) => on[t] !== 0));
}
