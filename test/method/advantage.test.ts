import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advantages, ESTIMATORS } from '../../src/method/advantage.ts';

const sum = (xs: readonly number[]) => xs.reduce((a, b) => a + b, 0);

describe('advantages', () => {
  it('worked by hand: rewards 1, 0 have mean .5 and unbiased sd .7071', () => {
    const { advantages: a } = advantages([1, 0], ['g', 'g']);
    expect(a[0]).toBeCloseTo(0.5 / (Math.SQRT1_2 + 1e-6), 12);
    expect(a[1]).toBeCloseTo(-0.5 / (Math.SQRT1_2 + 1e-6), 12);
  });

  it('case c26: a group that failed throughout gives zeros, is finite and reported', () => {
    expect(advantages([0, 0, 0, 0], ['q', 'q', 'q', 'q'])).toEqual({
      advantages: [0, 0, 0, 0],
      trainable: [],
      idle: [{ group: 'q', size: 4, reason: 'all_fail' }],
    });
  });

  it('case c27: groups are identities, so equal prompts stay two groups', () => {
    const out = advantages([1, 0, 0, 0], ['q1', 'q1', 'q2', 'q2']);
    expect(out.trainable).toEqual(['q1']);
    expect(out.idle).toEqual([{ group: 'q2', size: 2, reason: 'all_fail' }]);
    expect(out.advantages[0]).toBeGreaterThan(0.7);
    expect(out.advantages.slice(2)).toEqual([0, 0]);
  });

  it('a single member and equal rewards give 0 with their reasons', () => {
    const out = advantages([0.9, 0.5, 0.5], ['one', 'two', 'two']);
    expect(out.advantages).toEqual([0, 0, 0]);
    expect(out.idle).toEqual([
      { group: 'one', size: 1, reason: 'single' },
      { group: 'two', size: 2, reason: 'all_equal' },
    ]);
  });

  it('rewards that differ by rounding alone are equal', () => {
    expect(advantages([0.1 + 0.2, 0.3], ['g', 'g']).idle).toHaveLength(1);
  });

  it('HRPO compares proposals of one hop count, GRPO of one prompt, global all', () => {
    const proposals = [
      { hops: 1 as const, prompt: 0 },
      { hops: 2 as const, prompt: 1 },
      { hops: 1 as const, prompt: 2 },
    ];
    expect(proposals.map(ESTIMATORS.hrpo.group)).toEqual(['hops 1', 'hops 2', 'hops 1']);
    expect(new Set(proposals.map(ESTIMATORS.grpo.group)).size).toBe(3);
    expect(new Set(proposals.map(ESTIMATORS.global.group)).size).toBe(1);
  });

  const batch = fc.array(fc.tuple(fc.constantFrom(0, 0.25, 0.5, 0.75, 1, 1.5), fc.constantFrom('a', 'b', 'c')), {
    minLength: 1,
    maxLength: 24,
  });

  it('every group has mean 0, and sd 1 where rewards vary', () => {
    fc.assert(
      fc.property(batch, (items) => {
        const out = advantages(
          items.map((i) => i[0]),
          items.map((i) => i[1]),
        );
        for (const group of new Set(items.map((i) => i[1]))) {
          const a = out.advantages.filter((_, e) => items[e]![1] === group);
          expect(sum(a)).toBeCloseTo(0, 6);
          if (!out.trainable.includes(group)) expect(a.every((x) => x === 0)).toBe(true);
          else expect(Math.sqrt(sum(a.map((x) => x * x)) / (a.length - 1))).toBeCloseTo(1, 4);
        }
      }),
    );
  });

  it('does not depend on the order of trajectories, nor on a shift of all rewards', () => {
    fc.assert(
      fc.property(batch, fc.integer({ min: -3, max: 3 }), (items, shift) => {
        const forward = advantages(
          items.map((i) => i[0]),
          items.map((i) => i[1]),
        ).advantages;
        const back = [...items].reverse();
        const backward = advantages(
          back.map((i) => i[0] + shift),
          back.map((i) => i[1]),
        ).advantages;
        forward.forEach((a, e) => {
          expect(backward[items.length - 1 - e]).toBeCloseTo(a, 8);
        });
      }),
    );
  });
});
