import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldOf } from '../../src/method/fold.ts';
import { deal, drawHops, drawQuestions, drawSources, readHopMix, restrictHops } from '../../src/method/schedule.ts';
import { UserError } from '../../src/util/error.ts';

const slot = (index: number, over = {}) => ({ seed: 7, purpose: 'train', round: 1, step: 0, index, ...over });

describe('hop draw', () => {
  it('follows 4:3:2:1', () => {
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i++) counts[drawHops(readHopMix('4:3:2:1'), slot(i)) - 1]!++;
    expect(counts.map((n) => Math.round(n / 1000))).toEqual([4, 3, 2, 1]);
  });
  it('never draws a hop count that is switched off', () => {
    const mix = restrictHops(readHopMix('4:3:2:1'), [1, 3]);
    expect(mix).toEqual([4, 0, 2, 0]);
    const seen = new Set(Array.from({ length: 500 }, (_, i) => drawHops(mix, slot(i))));
    expect([...seen].sort()).toEqual([1, 3]);
  });
  it('refuses a mix without weight', () => {
    expect(() => restrictHops(readHopMix('1:0:0:0'), [2, 3])).toThrow(UserError);
  });
  it('depends on every part of the slot', () => {
    const series = (over: object) => Array.from({ length: 40 }, (_, i) => drawHops([1, 1, 1, 1], slot(i, over))).join();
    const all = [{}, { seed: 8 }, { purpose: 'write' }, { round: 2 }, { step: 1 }].map(series);
    expect(new Set(all).size).toBe(5);
  });
});

describe('deal', () => {
  it('holds every card once an epoch, in another order each time', () => {
    const first = deal(50, 0, 50, 'k');
    const second = deal(50, 50, 50, 'k');
    expect([...first].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect([...second].sort((a, b) => a - b)).toEqual([...first].sort((a, b) => a - b));
    expect(second).not.toEqual(first);
  });
  it('is a function of the place, however it is cut', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(80), fc.nat(40), fc.nat(40), (size, from, a, b) => {
        expect([...deal(size, from, a, 's'), ...deal(size, from + a, b, 's')]).toEqual(deal(size, from, a + b, 's'));
      }),
    );
  });
  it('refuses an empty pool', () => {
    expect(() => deal(0, 0, 3, 'bank')).toThrow(UserError);
  });
});

describe('source pools', () => {
  const schedule = { rounds: 2, proposerSteps: 3, prompts: 4 }; // 12 training prompts a round
  const draw = (
    pool: 'recurring' | 'single-pass',
    purpose: 'train' | 'write',
    round: number,
    index: number,
    count: number,
  ) => drawSources(pool, schedule, 40, { seed: 1, purpose, round, index, count });

  it('recurring goes on where the last round ended, and every source comes back', () => {
    const small = (round: number) =>
      drawSources('recurring', schedule, 6, { seed: 1, purpose: 'train', round, index: 0, count: 12 });
    expect(new Set(small(1)).size).toBe(6);
    expect(new Set(small(2))).toEqual(new Set(small(1)));
    const rounds = [...draw('recurring', 'train', 1, 0, 12), ...draw('recurring', 'train', 2, 0, 12)];
    expect(new Set(rounds).size).toBe(24);
    expect(draw('recurring', 'train', 1, 4, 8)).toEqual(draw('recurring', 'train', 1, 0, 12).slice(4));
    expect(draw('recurring', 'write', 1, 0, 12)).not.toEqual(draw('recurring', 'train', 1, 0, 12));
  });

  it('single-pass never shows a source twice and says when it runs dry', () => {
    const all = [1, 2].flatMap((r) => [
      ...draw('single-pass', 'train', r, 0, 12),
      ...draw('single-pass', 'write', r, 0, 8),
    ]);
    expect(new Set(all).size).toBe(40);
    expect(() => draw('single-pass', 'write', 1, 0, 9)).toThrow(/40 sources are too few/);
    expect(() =>
      drawSources('single-pass', schedule, 20, { seed: 1, purpose: 'train', round: 1, index: 0, count: 12 }),
    ).toThrow(UserError);
  });
});

describe('solver batches', () => {
  it('25 batches of 64 use each of 1,600 questions once', () => {
    const at = (step: number) => drawQuestions(1600, 64, { seed: 3, purpose: 'solver', round: 2, step });
    const all = Array.from({ length: 25 }, (_, step) => at(step)).flat();
    expect(new Set(all).size).toBe(1600);
    expect(at(3)).toEqual(at(3));
    expect(drawQuestions(1600, 64, { seed: 3, purpose: 'solver', round: 3, step: 3 })).not.toEqual(at(3));
  });
});

describe('folds', () => {
  it('never move: a run resumed with a later version must find the folds it began with', () => {
    expect(Array.from({ length: 12 }, (_, i) => foldOf(1, `doc-${i}`)).join('')).toBe('100111000000');
  });
  it('are about equal and change with the seed', () => {
    const ids = Array.from({ length: 2000 }, (_, i) => `doc-${i}`);
    const ones = ids.filter((id) => foldOf(1, id) === 1).length;
    expect(Math.abs(ones - 1000)).toBeLessThan(100);
    const same = ids.filter((id) => foldOf(1, id) === foldOf(2, id)).length;
    expect(Math.abs(same - 1000)).toBeLessThan(100);
  });
});
