import { describe, expect, it } from 'vitest';
import { rng } from '../src/util/rng.ts';

describe('keyed random numbers', () => {
  it('depends on the key alone', () => {
    expect(rng('a', 1).uniform()).toBe(rng('a', 1).uniform());
    expect(rng('a', 1).uniform()).not.toBe(rng('a', 2).uniform());
    expect(rng('ab', 'c').uniform()).not.toBe(rng('a', 'bc').uniform());
  });
  it('is uniform: mean 1/2, variance 1/12, no empty tenth', () => {
    const r = rng('uniform');
    const draws = Array.from({ length: 20_000 }, () => r.uniform());
    const mean = draws.reduce((a, b) => a + b) / draws.length;
    const variance = draws.reduce((a, b) => a + (b - mean) ** 2, 0) / draws.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.01);
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(0.003);
    const tenths = new Array(10).fill(0);
    for (const u of draws) tenths[Math.floor(u * 10)]++;
    for (const n of tenths) expect(Math.abs(n - 2000)).toBeLessThan(200);
  });
  it('first draws of neighbouring keys are uncorrelated', () => {
    const draws = Array.from({ length: 5000 }, (_, i) => rng('step', i).uniform());
    let c = 0;
    for (let i = 1; i < draws.length; i++) c += (draws[i]! - 0.5) * (draws[i - 1]! - 0.5);
    expect(Math.abs((c / draws.length) * 12)).toBeLessThan(0.05);
  });
  it('shuffle keeps the items and weighted keeps the shares', () => {
    expect([...rng('s').shuffle([1, 2, 3, 4])].sort()).toEqual([1, 2, 3, 4]);
    const r = rng('w');
    const n = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i++) n[r.weighted([4, 3, 2, 1])]!++;
    expect(n.map((x) => Math.round(x / 1000))).toEqual([4, 3, 2, 1]);
  });
});
