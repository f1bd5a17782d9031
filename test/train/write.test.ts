import { describe, expect, it } from 'vitest';
import { memoryBlobs } from '../../src/cli/memory-blobs.ts';
import { scriptedEngine } from '../../src/engine/scripted.ts';
import { exact } from '../../src/matcher/exact.ts';
import { PROPOSER_REWARD } from '../../src/method/proposer-reward.ts';
import { COMPACT_TAGS, compact } from '../../src/text/dialect/compact.ts';
import type { Context } from '../../src/train/context.ts';
import { writeBank } from '../../src/train/write.ts';

const limits = { turns: 5, tokensPerTurn: 100, contextLength: 2000 };
const GOOD = '<think>home<question>home of Mara Voss ?<answer>Fair Mere<end>';
const GIVEN_AWAY = '<think>home<question>home of Fair Mere ?<answer>Fair Mere<end>';

/** A proposer that says `say(n)` in its n-th rollout, n from 0; `admitted` questions are wanted. */
function contextOf(admitted: number, say: (n: number) => string): Context {
  let n = 0;
  const source = (id: string) => ({ id, title: id, text: `${id}: home Fair Mere.` });
  return {
    engine: scriptedEngine({ script: () => say(n++), tags: COMPACT_TAGS }),
    blobs: memoryBlobs(),
    matcher: exact,
    task: {
      name: 'fixture',
      dialect: compact,
      retriever: { fingerprint: 'none', search: async (queries) => queries.map(() => []) },
      auditor: { name: 'none', judge: async () => [] },
      sources: ['a', 'b', 'c'],
      passages: 3,
      hopMix: [1, 0, 0, 0],
      limits: { proposer: limits, solver: limits },
      gold: [],
      material: source,
      sourceText: (id) => source(id).text,
    },
    settings: {
      seed: 1,
      rounds: 1,
      proposerSteps: 1,
      prompts: 1,
      admitted,
      solverSteps: 1,
      questions: 1,
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
    },
  };
}
const at = { system: 'shared', round: 1, policy: 'base', labels: 'draft', mainSolver: 'base' } as const;

describe('writing a bank', () => {
  it('goes on until enough are admitted; what the gate refuses is counted by reason', async () => {
    const record = await writeBank(
      contextOf(4, (n) => (n % 2 === 0 ? GIVEN_AWAY : GOOD)),
      at,
    );
    expect(record.bank.map(({ id }) => id)).toEqual(['shared/1/0', 'shared/1/1', 'shared/1/2', 'shared/1/3']);
    expect(record.bank[0]).toMatchObject({ question: 'home of Mara Voss ?', label: 'Fair Mere', hops: 1 });
    expect(record.tried).toBe(8);
    expect(record.refused).toEqual({ answer_in_question: 4 });
  });

  it('takes the sources in turn: every one before one comes back', async () => {
    const { bank } = await writeBank(
      contextOf(3, () => GOOD),
      at,
    );
    expect(bank.map(({ source }) => source).sort()).toEqual(['a', 'b', 'c']);
  });

  it('gives up after 20 proposals a wanted question and goes on with what there is', async () => {
    const { bank, tried } = await writeBank(
      contextOf(2, (n) => (n === 5 ? GOOD : GIVEN_AWAY)),
      at,
    );
    expect([bank.length, tried]).toEqual([1, 40]);
  });

  it('stops with the reasons when nothing was admitted', async () => {
    await expect(
      writeBank(
        contextOf(2, () => GIVEN_AWAY),
        at,
      ),
    ).rejects.toThrow('round 1 of shared: none of 40 proposals was admitted (40 answer_in_question)');
  });
});
