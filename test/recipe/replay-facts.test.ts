/** How often a bank asks a fact, and whose graders train on it; numbers counted by hand. */
import { describe, expect, it } from 'vitest';
import { foldOf } from '../../src/method/fold.ts';
import { type BankQuestion, rewordBank } from '../../src/recipe/replay/bank.ts';
import { bankShape, factsOf, factsSeen } from '../../src/recipe/replay/facts.ts';
import { ARMS, askings } from '../../src/recipe/replay/plan.ts';
import { factOf } from '../../src/world/question.ts';
import { tinyWorld } from '../world/tiny.ts';

const row = (id: string, question: string, source = 'e2'): BankQuestion => ({
  id,
  question,
  label: 'Mara Voss',
  source,
  hops: 1,
});

/** Places 0, 1 and 2 ask one fact, 0 and 2 in the same words; 3 asks it of another source; 4 asks another fact; 5 none. */
const BANK = [
  row('a', 'founder of Brask Mills ?'),
  row('b', 'creator of Brask Mills ?'),
  row('c', 'founder of Brask Mills ?'),
  row('d', 'founder of Brask Mills ?', 'e0'),
  row('e', 'mentor of founder of Brask Mills ?'),
  row('f', 'Brask ?'),
];

describe('the shape of a bank', () => {
  it('counts texts and facts, and the share of questions whose fact another one asks', () => {
    expect(bankShape(BANK, factOf)).toEqual({ texts: 4, facts: 3, repeated: 3 / 5 });
    expect(bankShape(BANK.slice(3), factOf)).toEqual({ texts: 3, facts: 2, repeated: 0 });
  });
  it('is silent about facts where no text says one', () => {
    expect(bankShape(BANK, () => null)).toEqual({ texts: 4, facts: null, repeated: null });
  });
});

describe('facts in the part of a grader', () => {
  const facts = factsOf(BANK, factOf);
  const asking = (on: readonly number[], asked: readonly number[]) => ({
    fit: { name: 'g', auxiliary: null, on, updates: 1, marks: [1] },
    asked,
  });
  it.each([
    ['nothing it is fitted on', [[[], [0, 1, 2, 3, 4, 5]]], { seen: 0, of: 5 }],
    ['itself', [[[4], [4]]], { seen: 1, of: 1 }],
    ['another wording', [[[1], [0, 2, 4]]], { seen: 2, of: 3 }],
    ['not the same fact of another source', [[[3], [0, 1, 2]]], { seen: 0, of: 3 }],
    ['not another question without a fact', [[[5], [5, 4]]], { seen: 0, of: 1 }],
    [
      'each grader for its own questions',
      [
        [
          [0, 4],
          [1, 2, 3],
        ],
        [
          [1, 2, 3],
          [0, 4],
        ],
      ],
      { seen: 3, of: 5 },
    ],
  ])('counts %s', (_, graders, expected) => {
    expect(
      factsSeen(
        facts,
        graders.map(([on, asked]) => asking(on!, asked!)),
      ),
    ).toEqual(expected);
  });

  it('is every fact where graders train on what they grade, none where sources are split, some where questions are', () => {
    const world = tinyWorld();
    const bank = rewordBank(
      world.entities.flatMap(({ id, name, facts: own }) =>
        own.map(({ relation }) => row(`${id} ${relation.wordings[0]}`, `${relation.wordings[0]} of ${name} ?`, id)),
      ),
      world,
      3,
    );
    expect(bankShape(bank, factOf)).toEqual({ texts: 24, facts: 8, repeated: 1 });
    const seen = (plan: string) =>
      factsSeen(factsOf(bank, factOf), askings(ARMS.find((a) => a.name === plan)!, bank, 1, 4));
    for (const plan of ['coupled', 'same-source', 'full-data']) expect(seen(plan)).toEqual({ seen: 24, of: 24 });
    for (const plan of ['crossfit', 'half-budget']) expect(seen(plan)).toEqual({ seen: 0, of: 24 });
    // A question's fact is in the other part unless all three of its wordings are in one.
    const split = Array.from({ length: 8 }, (_, f) => new Set([0, 1, 2].map((w) => part(bank[3 * f + w]!.id))));
    expect(split.filter(({ size }) => size === 2).length).toBe(6);
    expect(seen('random-question')).toEqual({ seen: 18, of: 24 });
  });
});

const part = (id: string) => foldOf(1, `question ${id}`);

describe('a reworded bank', () => {
  it('asks every question in its wordings, with its source, label and hops; what cannot be parsed stays once', () => {
    const bank = rewordBank([row('r/1', 'founder of Brask Mills ?'), row('r/2', 'Brask ?')], tinyWorld(), 3);
    expect(bank.map(({ id }) => id)).toEqual(['r/1/w0', 'r/1/w1', 'r/1/w2', 'r/2']);
    expect(bank[0]!.question).toBe('founder of Brask Mills ?');
    expect(bank.map(({ question }) => question).sort()).toEqual([
      'Brask ?',
      'creator of Brask Mills ?',
      'founder of Brask Mills ?',
      'originator of Brask Mills ?',
    ]);
    for (const { label, source, hops } of bank) expect([label, source, hops]).toEqual(['Mara Voss', 'e2', 1]);
  });
  it('in one wording has the questions as they were asked', () => {
    expect(rewordBank(BANK, tinyWorld(), 1).map(({ question }) => question)).toEqual(
      BANK.map(({ question }) => question),
    );
  });
});
