import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assignedGrader,
  checkAncestry,
  FEEDBACK_PLANS,
  type FeedbackPlan,
  fittedOn,
  graderOf,
  promisesExclusion,
} from '../../src/method/feedback.ts';
import { foldOf } from '../../src/method/fold.ts';
import type {} from '../../src/types.ts';
import { UserError } from '../../src/util/error.ts';

const question = (id: string, source: string) => ({ id, source });
const names = Object.keys(FEEDBACK_PLANS) as (keyof typeof FEEDBACK_PLANS)[];

describe('feedback plans', () => {
  it('every plan has the main solver grade round 1', () => {
    for (const name of names) expect(graderOf(FEEDBACK_PLANS[name], 1, question('q', 's'), 1)).toBe('main');
  });

  it('crossfit asks the other fold, same-source its own, coupled the main solver', () => {
    const source = Array.from({ length: 20 }, (_, i) => `s${i}`).find((s) => foldOf(5, s) === 0)!;
    const q = question('q', source);
    expect(graderOf(FEEDBACK_PLANS.crossfit, 5, q, 2)).toEqual({ auxiliary: 1 });
    expect(graderOf(FEEDBACK_PLANS['half-budget'], 5, q, 3)).toEqual({ auxiliary: 1 });
    expect(graderOf(FEEDBACK_PLANS['full-data'], 5, q, 2)).toEqual({ auxiliary: 1 });
    expect(graderOf(FEEDBACK_PLANS['same-source'], 5, q, 2)).toEqual({ auxiliary: 0 });
    expect(graderOf(FEEDBACK_PLANS.coupled, 5, q, 2)).toBe('main');
  });

  it('only crossfit and half-budget promise exclusion', () => {
    expect(names.filter((name) => promisesExclusion(FEEDBACK_PLANS[name]))).toEqual(['crossfit', 'half-budget']);
  });

  const trainsOnSource = (plan: FeedbackPlan, seed: number, q: { id: string; source: string }, bank: (typeof q)[]) => {
    const grader = assignedGrader(plan, seed, q);
    return grader !== 'main' && bank.some((b) => b.source === q.source && fittedOn(plan, seed, grader.auxiliary, b));
  };

  it('the promise holds for every question, source and seed', () => {
    const bank = Array.from({ length: 40 }, (_, i) => question(`q${i}`, `s${i % 8}`));
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(...bank), (seed, q) => {
        for (const name of names)
          if (promisesExclusion(FEEDBACK_PLANS[name]))
            expect(trainsOnSource(FEEDBACK_PLANS[name], seed, q, bank)).toBe(false);
        expect(trainsOnSource(FEEDBACK_PLANS['same-source'], seed, q, bank)).toBe(true);
        expect(trainsOnSource(FEEDBACK_PLANS['full-data'], seed, q, bank)).toBe(true);
      }),
    );
  });

  it('a random question split excludes the question and not its source', () => {
    const plan = FEEDBACK_PLANS['random-question'];
    const bank = Array.from({ length: 40 }, (_, i) => question(`q${i}`, 's'));
    for (const q of bank) {
      const grader = assignedGrader(plan, 1, q);
      expect(grader !== 'main' && fittedOn(plan, 1, grader.auxiliary, q)).toBe(false);
    }
    expect(bank.every((q) => trainsOnSource(plan, 1, q, bank))).toBe(true);
  });

  it('each admitted question trains exactly one auxiliary where parts are kept, both or none otherwise', () => {
    const trains = (name: keyof typeof FEEDBACK_PLANS) =>
      ([0, 1] as const).filter((a) => fittedOn(FEEDBACK_PLANS[name], 1, a, question('q', 's'))).length;
    expect(names.map(trains)).toEqual([0, 1, 1, 2, 1, 1]);
  });
});

describe('ancestry check', () => {
  it('stops the run with the names where the plan promises exclusion, records the overlap elsewhere', () => {
    const questions = [{ source: 's1' }, { source: 's9' }, { source: 's1' }, { source: 's3' }];
    const line = new Set(['s1', 's2', 's3']);
    const check = (name: keyof typeof FEEDBACK_PLANS, asked = questions) =>
      checkAncestry(name, FEEDBACK_PLANS[name], 'a2', line, asked);
    expect(() => check('crossfit')).toThrow(UserError);
    expect(() => check('crossfit')).toThrow(/"crossfit".*a2.*s1, s3/);
    expect(check('crossfit', [{ source: 's9' }])).toEqual([]);
    expect(check('same-source')).toEqual(['s1', 's3']);
  });
});
