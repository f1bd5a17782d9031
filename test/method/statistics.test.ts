import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bootstrap, bootstrapAll, holm, mcnemar, quantile, weightedMean, wilson } from '../../src/method/statistics.ts';
import { rng } from '../../src/util/rng.ts';

const coins = (n: number, p: number, key: string) => {
  const r = rng(key);
  return Array.from({ length: n }, () => (r.uniform() < p ? 1 : 0));
};
const own = (n: number) => Array.from({ length: n }, (_, i) => `s${i}`);

describe('bootstrap', () => {
  it('agrees with the normal interval of a share when every item is its own cluster', () => {
    const values = coins(400, 0.3, 'coins');
    const p = values.reduce<number>((a, b) => a + b, 0) / 400;
    const half = 1.96 * Math.sqrt((p * (1 - p)) / 400);
    const { point, low, high } = bootstrap(weightedMean(values), own(400), { key: 'k' });
    expect(point).toBe(p);
    expect(Math.abs(low - (p - half))).toBeLessThan(0.01);
    expect(Math.abs(high - (p + half))).toBeLessThan(0.01);
  });
  it('is wider by √5 when items come in clusters of five equal ones', () => {
    const each = coins(80, 0.5, 'clusters');
    const values = each.flatMap((v) => [v, v, v, v, v]);
    const clusters = each.flatMap((_, i) => new Array<string>(5).fill(`s${i}`));
    const wide = bootstrap(weightedMean(values), clusters, { key: 'k' });
    const narrow = bootstrap(weightedMean(values), own(400), { key: 'k' });
    const ratio = (wide.high - wide.low) / (narrow.high - narrow.low);
    expect(Math.abs(ratio - Math.sqrt(5))).toBeLessThan(0.35);
  });
  it('is a function of its key', () => {
    const values = coins(50, 0.5, 'x');
    const run = (key: string) => bootstrap(weightedMean(values), own(50), { key, draws: 200 });
    expect(run('a')).toEqual(run('a'));
    const spread = Array.from({ length: 50 }, (_, i) => Math.sqrt(i));
    const other = (key: string) => bootstrap(weightedMean(spread), own(50), { key, draws: 200 }).low;
    expect(other('a')).not.toBe(other('b'));
  });
  it('keeps the point inside and one cluster without spread', () => {
    expect(bootstrap(weightedMean([0, 1]), ['s', 's'], { key: 'k', draws: 50 })).toEqual({
      point: 0.5,
      low: 0.5,
      high: 0.5,
    });
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 12 }), (values) => {
        const { low, high } = bootstrap(weightedMean(values), own(values.length), { key: 'k', draws: 100 });
        expect(low).toBeGreaterThanOrEqual(Math.min(...values));
        expect(high).toBeLessThanOrEqual(Math.max(...values));
        expect(low).toBeLessThanOrEqual(high);
      }),
      { numRuns: 25 },
    );
  });
  it('paired difference sees what unpaired intervals hide', () => {
    const a = coins(300, 0.5, 'pair');
    const b = a.map((x, i) => (i % 20 === 0 ? 1 : x));
    const d = bootstrap(weightedMean(a.map((x, i) => b[i]! - x)), own(300), { key: 'k' });
    expect(d.point).toBeGreaterThan(0);
    expect(d.low).toBeGreaterThanOrEqual(0);
    expect(d.high).toBeLessThan(0.06);
  });
});

describe('strata', () => {
  it('keep their size in every draw', () => {
    const strata = ['x', 'x', 'x', 'y', 'y'];
    const sizes = (weights: ArrayLike<number>) => [
      weights[0]! + weights[1]! + weights[2]!,
      weights[3]! + weights[4]!,
      weights[0]!,
    ];
    const [x, y, first] = bootstrapAll(sizes, own(5), { key: 'k', draws: 200, strata });
    expect(x).toEqual({ point: 3, low: 3, high: 3 });
    expect(y).toEqual({ point: 2, low: 2, high: 2 });
    expect(first!.high).toBeGreaterThan(first!.low);
  });
});

describe('tests and intervals', () => {
  it('Holm: the smallest of m counts m times, and none falls below the one before', () => {
    // By hand: .01 · 4 = .04; .02 · 3 = .06; .03 · 2 = .06; .5.
    [0.06, 0.04, 0.5, 0.06].forEach((p, i) => {
      expect(holm([0.03, 0.01, 0.5, 0.02])[i]).toBeCloseTo(p, 12);
    });
    expect(holm([0.9, 0.8])).toEqual([1, 1]);
    expect(holm([])).toEqual([]);
  });
  const outcomes = (both: number, onlyA: number, onlyB: number) => ({
    a: [...Array(both).fill(true), ...Array(onlyA).fill(true), ...Array(onlyB).fill(false)] as boolean[],
    b: [...Array(both).fill(true), ...Array(onlyA).fill(false), ...Array(onlyB).fill(true)] as boolean[],
  });
  it.each([
    // both, only a, only b, p by hand: 2 · Σ C(n, i) / 2^n
    [10, 0, 0, 1],
    [10, 0, 5, 2 / 32],
    [10, 1, 9, (2 * 11) / 1024],
    [0, 4, 4, 1],
    [3, 8, 2, (2 * 56) / 1024],
  ])('McNemar exact: %i both, %i only a, %i only b', (both, onlyA, onlyB, p) => {
    const { a, b } = outcomes(both, onlyA, onlyB);
    const out = mcnemar(a, b);
    expect(out).toMatchObject({ onlyA, onlyB });
    expect(out.p).toBeCloseTo(p, 12);
  });
  it('McNemar stays finite for thousands of discordant items', () => {
    const { a, b } = outcomes(0, 1000, 1100);
    const { p } = mcnemar(a, b);
    // Normal approximation with continuity correction: z = 99 / √2100 = 2.160.
    expect(Math.abs(p - 0.0308)).toBeLessThan(0.0005);
  });
  it('Wilson: 8 of 10 is [.490, .943], 0 of 10 is [0, .278]', () => {
    expect(wilson(8, 10)).toMatchObject({ point: 0.8 });
    expect(wilson(8, 10).low).toBeCloseTo(0.4902, 4);
    expect(wilson(8, 10).high).toBeCloseTo(0.9433, 4);
    expect(wilson(0, 10).low).toBe(0);
    expect(wilson(0, 10).high).toBeCloseTo(0.2775, 4);
    expect(wilson(0, 0)).toMatchObject({ low: 0, high: 1 });
  });
  it('quantile interpolates', () => {
    expect(quantile([0, 10], 0.25)).toBe(2.5);
    expect(quantile([1, 2, 3], 1)).toBe(3);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
